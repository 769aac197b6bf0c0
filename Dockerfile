# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
RUN pip install --no-cache-dir "uv>=0.9,<1"
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /app
# the dependencies first: they change less often than the code
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY bot/__init__.py bot/__init__.py
RUN uv sync --locked --no-dev --no-editable --no-install-project --extra postgresql
COPY bot bot
RUN uv sync --locked --no-dev --no-editable --extra postgresql

FROM python:3.13-slim
# nothing is written: the root file system may be read-only
ENV PATH=/app/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
COPY --from=build /app/.venv /app/.venv
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["whypending"]
CMD ["serve"]
