import type { Interceptor, Transport } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { createServerTransport } from '@zitadel/client/node'
import { createAdminServiceClient, createAuthServiceClient, createManagementServiceClient } from '@zitadel/client/v1'
import {
  createOIDCServiceClient,
  createOrganizationServiceClient,
  createSessionServiceClient,
  createSettingsServiceClient,
  createUserServiceClient,
} from '@zitadel/client/v2'
import { createClientTransport } from '@zitadel/client/web'
import * as node from '@zitadel/node/dist/api/index.js'
import { Metadata } from 'nice-grpc-common'

/** The clients of one published package over one protocol, with the same shape for all. */
export interface Clients {
  admin: Service
  auth: Service
  management: Service
  user: Service
  session: Service
  /** Undefined where the package has no service with an equal. */
  oidc: Service | undefined
  org: Service | undefined
  settings: Service | undefined
}

/** Methods of a service by their names in lowerCamelCase. */
export type Service = Record<string, (request: unknown) => Promise<any>>

/** A published package over one protocol. */
export interface ClientKind {
  client: '@zitadel/client' | '@zitadel/node'
  protocol: 'gRPC' | 'gRPC-web' | 'Connect'
  /** Connects as the holder of a token, in an organization. */
  connect(url: string, token: string, organization: string): Clients
  /** A member of a oneof, as the package spells it in a request. */
  oneof(name: string, member: string, value: unknown): Record<string, unknown>
}

export const kinds: ClientKind[] = [
  connectKind('gRPC', (baseUrl, token, interceptors) => createServerTransport(token, { baseUrl, interceptors })),
  connectKind('gRPC-web', (baseUrl, token, interceptors) => createClientTransport(token, { baseUrl, interceptors })),
  connectKind('Connect', (baseUrl, token, interceptors) =>
    createConnectTransport({
      baseUrl,
      httpVersion: '1.1',
      interceptors: [withHeader('authorization', `Bearer ${token}`), ...interceptors],
    }),
  ),
  {
    client: '@zitadel/node',
    protocol: 'gRPC',
    connect: (url, token, organization) => nodeClients(url, organization, node.createAccessTokenInterceptor(token)),
    oneof: (_, member, value) => ({ [member]: value }),
  },
]

/** The clients of `@zitadel/node`, which authenticate by this interceptor. */
export function nodeClients(
  url: string,
  organization: string,
  interceptor: ReturnType<typeof node.createAccessTokenInterceptor>,
): Clients {
  const metadata = { metadata: Metadata({ 'x-zitadel-orgid': organization }) }
  const service = (client: object): Service =>
    Object.fromEntries(
      Object.entries(client as Record<string, (request: unknown, options: object) => Promise<unknown>>).map(
        ([name, method]) => [name, (request: unknown) => method(request, { ...metadata })],
      ),
    )
  return {
    admin: service(node.createAdminClient(url, interceptor)),
    auth: service(node.createAuthClient(url, interceptor)),
    management: service(node.createManagementClient(url, interceptor)),
    user: service(node.createUserClient(url, interceptor)),
    session: service(node.createSessionClient(url, interceptor)),
    oidc: undefined,
    org: undefined,
    settings: undefined,
  }
}

function connectKind(
  protocol: ClientKind['protocol'],
  transportOf: (baseUrl: string, token: string, interceptors: Interceptor[]) => Transport,
): ClientKind {
  return {
    client: '@zitadel/client',
    protocol,
    connect(url, token, organization) {
      const transport = transportOf(url, token, [withHeader('x-zitadel-orgid', organization)])
      return {
        admin: createAdminServiceClient(transport) as unknown as Service,
        auth: createAuthServiceClient(transport) as unknown as Service,
        management: createManagementServiceClient(transport) as unknown as Service,
        user: createUserServiceClient(transport) as unknown as Service,
        session: createSessionServiceClient(transport) as unknown as Service,
        oidc: createOIDCServiceClient(transport) as unknown as Service,
        org: createOrganizationServiceClient(transport) as unknown as Service,
        settings: createSettingsServiceClient(transport) as unknown as Service,
      }
    },
    oneof: (name, member, value) => ({ [name]: { case: member, value } }),
  }
}

function withHeader(name: string, value: string): Interceptor {
  return (next) => (request) => {
    if (value !== '') request.header.set(name, value)
    return next(request)
  }
}
