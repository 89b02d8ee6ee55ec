import type { Call } from '#lib/rpc/headers'

/** Ends a sentence that must not say which of several it was. Libraries show the description, and no header of an answer. */
export function whichInLog({ requestId }: Pick<Call, 'requestId'>): string {
  return `The log of Roster says which (request id ${requestId}).`
}
