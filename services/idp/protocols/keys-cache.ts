import type { AuthorizationServer, JWKSCacheInput } from 'oauth4webapi'

/** The providers whose keys are kept; the one that was used longest ago goes. */
const most = 100

/**
 * The keys of providers, for five minutes; of a key that nobody knows, a provider is asked again once a minute at most.
 * Both times are oauth4webapi's, which fills the entries.
 */
export class KeysCache {
  readonly #entries = new Map<string, JWKSCacheInput>()

  /** The entry of a provider. What another issuer names is kept apart, also where it names the same address. */
  of({ issuer, jwks_uri: url = '' }: AuthorizationServer): JWKSCacheInput {
    const name = JSON.stringify([issuer, url])
    const entry: JWKSCacheInput = this.#entries.get(name) ?? {}
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= most) break
      this.#entries.delete(oldest)
    }
    return entry
  }
}
