import { type HouseOptions, startHouse } from '../house.ts'
import { startTestServers } from '../infra.ts'
import type { CallOptions } from './clients/call.ts'
import { call } from './clients/encodings.ts'
import { ok } from '../examples/people.ts'

/** A Roster for one test, which does things that would end the shared one. */
export async function startOwnHouse(options: HouseOptions = {}, settings: Record<string, string> = {}) {
  const { servers, stop } = await startTestServers()
  const house = await startHouse(servers.serviceDatabaseUrls, settings, { servers, ...options })
  return {
    ...house,
    servers,
    /** The machine administrator. */
    machine: { url: house.url, token: house.adminToken },
    /** The human administrator with a new session. */
    async human(): Promise<CallOptions & { token: string }> {
      const credentials = { loginName: 'admin', password: house.adminPassword }
      return { url: house.urls.at(-1)!, token: ok(await call('CreateSession', credentials, house)).sessionToken }
    },
    async stop() {
      await house.stop()
      await stop()
    },
  }
}
