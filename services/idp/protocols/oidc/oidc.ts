import type { LoggingOutWork } from '../protocol.ts'
import { begin } from './begin.ts'
import { callback } from './callback.ts'
import { endSession } from './end-session.ts'
import { loggedOut } from './logout-token.ts'
import { testOidc } from './test-oidc.ts'

/** OpenID Connect: the provider describes itself below its issuer. */
export const oidc: LoggingOutWork<'oidc'> = { test: testOidc, begin, callback, endSession, loggedOut }
