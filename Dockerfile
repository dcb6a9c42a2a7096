# Portico's image. NODE_IMAGE may be any Debian-like image with Node 24, npm and bash.
ARG NODE_IMAGE=node:24-bookworm-slim

# Install scripts stay off: the image brings its own Node. Behind a proxy with a certificate authority of its own:
# docker build --secret id=ca,src=/path/to/ca.crt
FROM ${NODE_IMAGE} AS production
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi \
    && npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE} AS development
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi \
    && npm ci --ignore-scripts --no-audit --no-fund

FROM development AS build
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    PORTICO_CONFIG=/etc/portico/portico.yaml
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY config/portico.schema.json ./config/
COPY --chmod=755 deploy/init.sh ./deploy/
# Any user but root will do: nothing is written but what the config names.
USER 1000:1000
EXPOSE 8080 9090
# The loop turns; whether Portico is ready for traffic is /readyz, for whoever sends it traffic.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["node", "-e", "fetch(process.env.PORTICO_LIVEZ ?? 'http://127.0.0.1:9090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/deploy/init.sh", "node", "--max-semi-space-size=8", "/app/dist/main.js"]
