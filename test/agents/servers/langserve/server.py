"""A chain of LangChain behind LangServe."""

import os

import uvicorn
from fastapi import FastAPI
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langserve import add_routes

app = FastAPI()
add_routes(app, ChatOpenAI(model="scripted", max_retries=0), path="/model")
add_routes(app, RunnableLambda(lambda text: [("user", text)]).with_types(input_type=str) | ChatOpenAI(model="scripted", max_retries=0), path="/chain")
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
