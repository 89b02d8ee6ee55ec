import type { ShowAccountRequest } from '#gen/roster/users/v1/account_service'
import type { AccountPage } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { searchUserConsents } from '../../openid/consents/search-user-consents.ts'
import { searchUserSessions } from '../../sessions/operations/session/search-user-sessions.ts'
import { searchUserSignIns } from '../../sessions/operations/sign-ins/search-user-sign-ins.ts'
import { secondFactorsOf } from './second-factors.ts'
import { passkeysPage, passkeysPart } from './my-passkeys.ts'
import { providersPart } from './my-providers.ts'
import type { Section } from './sections.ts'

/** What a page has beside what every page of an account has. `call`: made by the person. */
type Shows = (
  context: Context,
  person: Candidate,
  request: ShowAccountRequest,
  call: Call,
) => Partial<AccountPage> | Promise<Partial<AccountPage>>

/** What each page shows. */
export const accountSections: Record<Section, Shows> = {
  '': (_context, { user }) => {
    const { firstName, lastName, displayName, preferredLanguage } = user.human!.profile
    const names = { givenName: firstName, familyName: lastName, displayName }
    return { profile: { ...names, language: preferredLanguage, userName: user.nameIsMade ? '' : user.userName } }
  },
  async 'sign-in'(context, person, request) {
    const [passkeys, factors, first] = await Promise.all([
      passkeysPart(context, person),
      secondFactorsOf(context, person, request),
      firstFactorOf(context, person),
    ])
    return { ...passkeys, ...factors, ...first, ...providersPart(person) }
  },
  passkeys: (context, person) => passkeysPage(context, person),
  providers: (_context, person) => providersPart(person),
  authenticator: secondFactorsOf,
  'recovery-codes': secondFactorsOf,
  async activity(context, { signedInUser: { userId } }, { sessionsCursor, signInsCursor }, call) {
    const keptDays = context.config.SIGN_IN_RECORD_DAYS
    const [sessions, signIns] = await Promise.all([
      partOf(sessionsCursor, (paging) => searchUserSessions(context, { userId, ...paging }, call)),
      partOf(signInsCursor, (paging) => searchUserSignIns(context, { userId, ...paging }, call)),
    ])
    return { sessions, ...(keptDays > 0 && { signIns: { ...signIns, keptDays } }) }
  },
  async apps(context, { signedInUser: { userId } }, { consentsCursor }, call) {
    const find = (paging: Paging) => searchUserConsents(context, { userId, ...paging }, call)
    return { consents: await partOf(consentsCursor, find) }
  },
  data: ({ config }) => ({ forgetAfterDays: config.FORGET_AFTER_DAYS }),
  email: ({ config }) => ({ takeBackHours: Math.floor(config.PASSWORD_RESET_AFTER_EMAIL_CHANGE / 3600) }),
  password: async (context, person) => ({ ...passwordLengths(), ...(await firstFactorOf(context, person)) }),
  removal: ({ config }) => ({ forgetAfterDays: config.FORGET_AFTER_DAYS }),
}

async function firstFactorOf(context: Context, { signedInUser: { policy, userId } }: Candidate) {
  const user = await findUserById(context, userId)
  return { signsInByMail: policy.factors.includes('mailed-code'), lacksPassword: user?.hash === null }
}

interface Paging {
  limit: number
  cursor: string
  withTotal: boolean
}

/** So many of each list that the page stays small, whatever names they have. */
const limit = 8

// The cursor may be that of an account that was shown before.
async function partOf<Part extends { total?: number | undefined }>(
  cursor: string,
  find: (paging: Paging) => Promise<Part>,
): Promise<Part & { total: number; goesOn: boolean }> {
  try {
    const part = await find({ limit, cursor, withTotal: true })
    return { ...part, total: part.total ?? 0, goesOn: cursor !== '' }
  } catch (error) {
    if (cursor !== '' && error instanceof RosterError && error.reason === 'CURSOR_INVALID') return partOf('', find)
    throw error
  }
}
