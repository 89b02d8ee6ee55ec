import { openClient } from './client.ts'

const most = 1000

/**
 * Adds so many humans, unless they are there. Returns their ids. Default: in the organization of
 * the administrator.
 */
export async function addHumans(
  system: { urls: string[]; token: string },
  count: number,
  organization?: string,
): Promise<string[]> {
  const client = openClient(system)
  const ids = Array.from({ length: count }, (_, index) => `bench${organization ?? ''}-${index}`)
  for (let at = 0; at < count; at += most) {
    const users = ids.slice(at, at + most).map((userId) => ({ human: newHuman(userId) }))
    const { results } = await client.ask('POST', '/v2/users/_bulk', { users }, organization)
    for (const { error } of results)
      if (error && error.code !== alreadyExists) throw new Error(`a user could not be added: ${JSON.stringify(error)}`)
  }
  client.close()
  return ids
}

const alreadyExists = 6

function newHuman(userId: string): object {
  return {
    userId,
    userName: userId,
    profile: { firstName: 'Bench', lastName: userId, preferredLanguage: 'en' },
    // It is not verified, so that no change of it sends a notice to the former address.
    email: { email: `${userId}@example.com`, returnCode: {} },
  }
}
