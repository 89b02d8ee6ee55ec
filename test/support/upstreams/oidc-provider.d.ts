/** What tests use of oidc-provider, which has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Client {
    clientId: string
  }

  interface Configuration {
    clients: object[]
    responseTypes: string[]
    scopes: string[]
    claims: Record<string, string[]>
    cookies: object
    enableHttpPostMethods: boolean
    features: Partial<{
      claimsParameter: { enabled: boolean }
      clientCredentials: { enabled: boolean }
      devInteractions: { enabled: boolean }
      introspection: { enabled: boolean; allowedPolicy(context: unknown, client: Client, token: Client): boolean }
      revocation: { enabled: boolean }
    }>
    findAccount(context: unknown, accountId: string): { accountId: string; claims(): object }
    interactions: { url(context: unknown, interaction: { uid: string }): string }
    issueRefreshToken(): boolean
    jwks: { keys: object[] }
    conformIdTokenClaims: boolean
    loadExistingGrant(context: { oidc: { client: Client; session: { accountId: string } } }): Promise<unknown>
    pkce: { required(context: unknown, client: Client): boolean }
    renderError(context: { body: string }): void
  }

  export class Provider {
    constructor(issuer: string, configuration: Partial<Configuration>)
    Grant: new (of: { clientId: string; accountId: string }) => {
      addOIDCScope(scope: string): void
      save(): Promise<unknown>
    }
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: object,
    ): Promise<void>
    Client: { prototype: { redirectUriAllowed(uri: string): boolean; compareClientSecret(sent: string): boolean } }
  }
}
