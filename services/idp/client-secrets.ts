import type { Sealed } from '#lib/eventstore/reseal'

/** Where the client secrets of the providers are. */
export const sealedSecrets: Sealed = { purpose: 'idp-client-secret', table: 'client_secrets', column: 'sealed' }
