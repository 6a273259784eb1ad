"""Runs that end with a question to the user, and the runs that answer it."""

from google.adk.agents import LlmAgent, ParallelAgent, SequentialAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_credential import OAuth2Auth
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from fastapi.openapi.models import OAuth2, OAuthFlowAuthorizationCode, OAuthFlows

from scripted import call, called, calls, model, say

from .containers import speaker
from .plain import weather
from .registry import answer, shape, text
from .transfers import boss, to

APPROVED = answer("approve", {"status": "approved"})
CONFIRMED = answer("adk_request_confirmation", {"confirmed": True})


def approve(amount: int) -> dict:
    """Asks a human to approve an amount."""
    return {"status": "pending", "ticket": "approval-1"}


def sign(document: str) -> None:
    """Asks a human to sign, and says nothing until it is signed."""
    return None


def delete(folder: str) -> dict:
    """Deletes a folder."""
    return {"deleted": folder}


def login(tool_context: ToolContext) -> dict:
    """Needs a credential of the user's."""
    scheme = OAuth2(flows=OAuthFlows(authorizationCode=OAuthFlowAuthorizationCode(
        authorizationUrl="https://example.org/auth", tokenUrl="https://example.org/token", scopes={})))
    tool_context.request_credential(AuthConfig(auth_scheme=scheme, raw_auth_credential=AuthCredential(
        auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="id", client_secret="secret"))))
    return {"status": "waits for the credential"}


def approver(name, *turns):
    turns = turns or (call("approve", amount=5), say("I asked."), say("Approved: done."))
    return LlmAgent(name=name, description="Approves.", tools=[LongRunningFunctionTool(approve)], model=model(*turns))


def signer(name):
    return LlmAgent(name=name, description="Signs.", tools=[LongRunningFunctionTool(sign)],
                    model=model(call("sign", document="D"), say("Signed: done.")))


def resumable(name, agent):
    return App(name=name, root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))


@shape(steps=[text("go"), APPROVED], streamed=True)
def long_running():
    return approver("long_running")


@shape(steps=[text("go"), answer("sign", {"signed": True})])
def long_running_silent():
    return signer("assistant")


@shape()
def long_running_unanswered():
    return LlmAgent(name="assistant", tools=[LongRunningFunctionTool(sign), weather],
                    model=model(calls(called("weather", city="Rome"), called("sign", document="D")), say("Sunny.")))


@shape(steps=[text("go"), answer("approve", {"status": "approved"}, resumes=True)])
def long_running_resumable():
    return resumable("long_running_resumable", approver("assistant"))


@shape(steps=[text("go"), answer("sign", {"signed": True}, resumes=True)])
def sequence_resumable():
    return resumable("sequence_resumable", SequentialAgent(name="pipeline", sub_agents=[
        speaker("first"), signer("second"), speaker("third")]))


@shape(steps=[text("go"), answer("sign", {"signed": True}, resumes=True)])
def parallel_resumable():
    return resumable("parallel_resumable", ParallelAgent(name="fan", sub_agents=[speaker("left", 0.2), signer("right")]))


@shape(steps=[text("go"), answer("sign", {"signed": True}, resumes=True)])
def transfer_resumable():
    return resumable("transfer_resumable", boss(to("expert"), sub_agents=[signer("expert")]))


@shape(steps=[text("go"), APPROVED])
def long_running_after_transfer():
    return boss(to("expert"), say("Not asked."), sub_agents=[approver("expert")])


@shape(steps=[text("go"), CONFIRMED], streamed=True)
def confirmation():
    return LlmAgent(name="assistant", tools=[FunctionTool(delete, require_confirmation=True)],
                    model=model(call("delete", folder="tmp"), say("Deleted.")))


@shape(steps=[text("go"), answer("adk_request_confirmation", {"confirmed": False})])
def confirmation_refused():
    return LlmAgent(name="confirmation_refused", tools=[FunctionTool(delete, require_confirmation=True)],
                    model=model(call("delete", folder="tmp"), say("Kept.")))


@shape(steps=[text("go"), answer("adk_request_confirmation", {"confirmed": True}, resumes=True)])
def confirmation_resumable():
    return resumable("confirmation_resumable", LlmAgent(
        name="assistant", tools=[FunctionTool(delete, require_confirmation=True)],
        model=model(call("delete", folder="tmp"), say("Deleted."))))


@shape()
def credential():
    return LlmAgent(name="credential", tools=[FunctionTool(login)], model=model(call("login"), say("Logged in.")))
