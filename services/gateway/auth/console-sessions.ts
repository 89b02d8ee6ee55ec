import {
  type GetConsoleSessionResponse,
  InternalServiceDefinition,
  type OpenConsoleSessionRequest,
} from '#gen/roster/users/v1/internal_service'
import { createCache } from '#lib/cache'
import { RosterError } from '#lib/errors'
import { type AskingNats, createClient } from '#lib/rpc/call'
import type { Method } from '#lib/rpc/methods'
import { internalCalls } from '../../internal-calls.ts'
import { ownCall } from './directory.ts'
import type { PresentedConsole } from './presented-console.ts'

/** Sessions of the console, which users keeps. */
export interface ConsoleSessions {
  /** Errors of OpenConsoleSession. */
  open(request: OpenConsoleSessionRequest): Promise<{ userId: string; organizationId: string }>
  /** UNAUTHENTICATED CONSOLE_SESSION_ENDED. */
  find(hash: Buffer): Promise<GetConsoleSessionResponse>
  end(hash: Buffer): Promise<void>
  /**
   * Lets a session that is proved make a call: for a dangerous one it needs a fresh factor. The call counts as use, at most
   * once a minute. FAILED_PRECONDITION FACTOR_NOT_FRESH.
   */
  use(method: Method, session: PresentedConsole): Promise<void>
}

/** Milliseconds. */
const noteUseEvery = 60_000

export function createConsoleSessions(nats: AskingNats): ConsoleSessions {
  const users = createClient(nats, InternalServiceDefinition, internalCalls.gateway.users)
  const used = createCache<true>({ capacity: 10_000, maxAge: noteUseEvery })
  const find = (cookieHash: Buffer, inUse: boolean) => users.getConsoleSession({ cookieHash, inUse }, ownCall())

  return {
    // A code counts once, so nothing asks again.
    open: (request) => users.openConsoleSession(request, ownCall()),
    find: (hash) => find(hash, false),
    async end(cookieHash) {
      await users.endConsoleSession({ cookieHash }, ownCall())
    },
    async use({ danger }, { hash }) {
      // Asked at once: who looks away for ten minutes has proved nothing, whatever was known a second ago.
      if (danger && !(await find(hash, true)).fresh) throw notFresh()
      const key = hash.toString('base64')
      if (used.get(key)) return
      // It may fail: the next call notes it then.
      used.obtain(key, () => find(hash, true).then(() => ({ value: true }))).catch(() => {})
    },
  }
}

function notFresh(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_FRESH',
    'In the console this needs a password or passkey that was checked within the last ten minutes.',
  )
}
