"""The engine: one step (`core`), the async front door (`engine`), the offline one (`llm`)."""

from .components import Components
from .core import EngineCore
from .engine import Engine, Stream
from .llm import LLM
from .output import RequestOutput
from .vocabulary import Vocabulary

__all__ = ["LLM", "Components", "Engine", "EngineCore", "RequestOutput", "Stream", "Vocabulary"]
