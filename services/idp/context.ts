import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/keys'

/** Everything that operations work with. */
export interface Context {
  store: Store
  keys: Keyring
}
