# Two stages of Debian 12. ./dev knows the packages, so they are named in one place only.
FROM debian:12-slim AS build
WORKDIR /src
COPY dev ./
RUN ./dev setup build && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake ./cmake
COPY proxy ./proxy
RUN ./dev build release && strip build/release/proxy/opid

FROM debian:12-slim
COPY dev /tmp/
RUN /tmp/dev setup runtime && rm -rf /tmp/dev /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin opid \
    && install -d -o opid -g opid -m 0700 /data
COPY --from=build /src/build/release/proxy/opid /usr/local/bin/
COPY config/container.yaml /etc/opid/opid.yaml
COPY policies /etc/opid/policies
USER opid
WORKDIR /data
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["curl", "--fail", "--silent", "--show-error", "--output", "/dev/null", "http://127.0.0.1:8081/readyz"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["opid"]
CMD ["serve", "--config", "/etc/opid/opid.yaml"]
