import type { Sealed } from '#lib/eventstore/reseal'

/** The table of the providers' client secrets. */
export const sealedSecrets: Sealed = { purpose: 'idp-client-secret', table: 'client_secrets', column: 'sealed' }
