import type { AggregateKey } from '#lib/eventstore/aggregate'

/** The events of what is known of an identity provider's table. It belongs to the organization that has the provider. */
export type ProviderTableEvent = { type: 'noted'; payload: ProviderTable }

/** Which roles an identity provider gives people by their claims, as idp said last. */
export interface ProviderTable {
  /** Of the provider's record. */
  sequence: number
  rows: TableRow[]
}

export interface TableRow {
  /** Of its claim, value and project. */
  rowId: string
  projectId: string
  roleKeys: string[]
}

export function keyOfProviderTable(idpId: string): AggregateKey<ProviderTable> {
  return { type: 'provider_table', id: idpId }
}
