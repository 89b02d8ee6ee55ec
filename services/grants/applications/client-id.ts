import { codes, RosterError, type Violation } from '#lib/errors'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { domainKey } from '../organizations/new-organization.ts'

/** Refuses a chosen client id that means the console: users knows its application without a copy, whatever grants says. */
export function reservedClientId({ clientId }: { clientId?: string | undefined }): Violation[] {
  if (clientId !== instance.console.clientId) return []
  return [{ field: 'clientId', description: `must not be ${clientId}, which is the console of Roster` }]
}

/**
 * Throws ALREADY_EXISTS CLIENT_ID_TAKEN where a user could be meant by a chosen client id: it is or was the id of one,
 * or it ends like the login names of an organization. Applications are looked up first, so it would shut out a machine.
 */
export async function refuseIdOfUser(context: Context, clientId: string, call: Call): Promise<void> {
  const at = clientId.lastIndexOf('@')
  const domain = clientId.slice(at + 1).toLowerCase()
  const isOfUser = at < 0 ? hadUser(context.users, clientId, call) : isDomain(context, domain)
  if (await isOfUser) throw clientIdTaken()
}

// An organization may take any domain under the host of PUBLIC_URL later.
async function isDomain({ sql, config }: Context, domain: string): Promise<boolean> {
  if (`.${domain}`.endsWith(`.${new URL(config.PUBLIC_URL).hostname}`)) return true
  const { kind, scope, key } = domainKey(domain)
  const found = await orUnavailable(sql`
    select from unique_keys where kind = ${kind} and scope = ${scope} and key = ${key}
  `)
  return found.length > 0
}

async function hadUser(users: Context['users'], userId: string, call: Call): Promise<boolean> {
  try {
    await users.traceUserState({ userId }, call)
    return true
  } catch (error) {
    if (error instanceof RosterError && error.code === codes.NOT_FOUND) return false
    throw error
  }
}

export function clientIdTaken(): RosterError {
  return new RosterError(
    'ALREADY_EXISTS',
    'CLIENT_ID_TAKEN',
    'An application has or had this client id, or a user could be meant by it.',
  )
}
