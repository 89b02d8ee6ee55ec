import type { SigningInWork } from '../protocol.ts'
import { begin } from './begin.ts'
import { callback } from './callback.ts'
import { testJwt } from './test-jwt.ts'

/** JSON Web Tokens in a header: Roster asks the provider for its keys alone. */
export const jwt: SigningInWork<'jwt'> = { test: testJwt, begin, callback }
