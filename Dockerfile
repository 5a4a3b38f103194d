# The engine without torch, for CPUs. Stores live on the volume; nothing else is written, so the root may be read-only:
#   docker build -t noisygd-delete . && docker run --rm --read-only --tmpfs /tmp -v stores:/stores noisygd-delete --help
# --build-arg BASE=python:3.11-slim@sha256:... pins the base: `docker buildx imagetools inspect python:3.11-slim` says its digest
ARG BASE=python:3.11-slim
FROM ${BASE} AS build
WORKDIR /source
COPY release.lock .
RUN python -m venv /opt/engine && /opt/engine/bin/pip install --no-cache-dir --require-hashes --requirement release.lock
COPY pyproject.toml README.md LICENSE ./
COPY noisygd_delete noisygd_delete
COPY server server
RUN /opt/engine/bin/pip install --no-cache-dir --no-deps --no-build-isolation . ./server

FROM ${BASE}
COPY --from=build /opt/engine /opt/engine
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin engine \
    && mkdir --mode=700 /stores && chown engine:engine /stores && chmod 1777 /var/tmp
# compiled kernels hold no data; they go where a read-only root still lets them
ENV PATH=/opt/engine/bin:$PATH PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/tmp/kernels MPLCONFIGDIR=/tmp/matplotlib
USER 10001:10001
WORKDIR /stores
VOLUME ["/stores", "/var/tmp"]
ENTRYPOINT ["noisygd-delete"]
CMD ["--help"]
