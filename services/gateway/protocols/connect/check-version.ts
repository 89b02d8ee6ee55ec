import { RosterError } from '#lib/errors'

/** A client may name the version of Connect, and it must be 1 then. INVALID_ARGUMENT PROTOCOL_VERSION_UNSUPPORTED. */
export function checkVersion(named: string | undefined, wanted: '1' | 'v1'): void {
  if (named === undefined || named === wanted) return
  const message = `The version of the Connect protocol must be ${wanted}.`
  throw new RosterError('INVALID_ARGUMENT', 'PROTOCOL_VERSION_UNSUPPORTED', message)
}
