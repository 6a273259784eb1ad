import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createRoot } from "react-dom/client";

// Chat is controlled by its test: window.chat has what the hook returns. The chat's ID is in the page's address.
function Chat() {
  const [id, resume] = location.hash.slice(1).split("!");
  window.chat = useChat({ id, resume: resume !== undefined, transport: new DefaultChatTransport({ api: "/api/chat" }), sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  const { messages, status, error } = window.chat;
  return (
    <>
      <p id="status">{status}</p>
      <p id="error">{error?.message}</p>
      <pre id="messages">{JSON.stringify(messages)}</pre>
    </>
  );
}

createRoot(document.getElementById("root")).render(<Chat />);
