import type { Clients } from './clients.ts'

/** Where the objects are. `in` has the clients act in an organization, as the provider does for each kind. */
export interface Place {
  in(organization: string): Clients
  organization: string
  guest: string
  project: string
  machine: string
}

/**
 * The calls of a kind of ZITADEL's Terraform provider, in the order in which it makes them, with the fields that it
 * always sends. `read` gives what its state has, or undefined where it drops the object from the state.
 */
export interface TerraformKind {
  kind: string
  create(place: Place): Promise<string>
  read(place: Place, id: string): Promise<object | undefined>
  /** What a read gives after the creation, and after the update. */
  created: object
  update?(place: Place, id: string): Promise<unknown>
  updated?: object
  remove(place: Place, id: string): Promise<unknown>
  /** It imports by an id of 18 digits alone, and nobody chooses one of this kind. */
  importedById?: true
}
