# The image of Delegraph: one static binary, CA certificates and time zones. The build context contains the binary for each platform:
#   CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -o dist/image/linux/arm64/delegraph ./cmd/delegraph
#   docker buildx build --platform linux/arm64 --file Dockerfile dist/image
ARG BASE=gcr.io/distroless/static-debian12:nonroot
FROM ${BASE}
ARG TARGETPLATFORM
ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="Delegraph" \
      org.opencontainers.image.description="Shows the event stream of an AI agent as OpenTelemetry traces and Prometheus metrics." \
      org.opencontainers.image.url="https://github.com/delegraph/delegraph" \
      org.opencontainers.image.source="https://github.com/delegraph/delegraph" \
      org.opencontainers.image.documentation="https://github.com/delegraph/delegraph/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --chmod=0555 ${TARGETPLATFORM}/delegraph /usr/bin/delegraph
USER 65532:65532
EXPOSE 10477 10478
ENTRYPOINT ["/usr/bin/delegraph"]
# Inside the container's network, loopback cannot be published with docker run -p.
CMD ["serve", "--config.file=/etc/delegraph/delegraph.yml", "--web.listen-address=:10477"]
