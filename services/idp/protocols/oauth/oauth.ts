import type { SigningInWork } from '../protocol.ts'
import { begin } from './begin.ts'
import { callback } from './callback.ts'
import { testOauth } from './test-oauth.ts'

/** OAuth 2.0: the record has the endpoints, and the one of users says who it is. */
export const oauth: SigningInWork<'oauth'> = { test: testOauth, begin, callback }
