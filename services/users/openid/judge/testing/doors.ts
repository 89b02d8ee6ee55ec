import { CreateCallbackRequest as callbackCodec } from '#gen/roster/users/v1/auth_request_service'
import { CodeError, FactorWay, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { hashToken } from '../../../directory/tokens/token.ts'
import { authenticate } from '../../../internal/authenticate.ts'
import { createCallback } from '../../../pages/own-pages/create-callback.ts'
import { call, reasonOf, users } from '../../../sessions/factors/passkey/testing/world.ts'
import { findActive } from '../../authorization/active-token.ts'
import { redirectUri, told } from '../../authorization/testing/visitors.ts'
import { issue, redeem, scope, type SignedIn } from './sign-ins.ts'

/** What a page asks for: the words of the table, or nothing. `help`: it says that an administrator has to help. */
function askedAt({ answer }: PageAnswer): string {
  switch (answer?.$case) {
    case 'signIn':
      return answer.value.mailsCode ? 'code' : 'password'
    case 'passkey':
      return 'passkey'
    case 'code':
      return helpsNobody.has(answer.value.error) ? 'help' : 'mail'
    case 'newPassword':
      return 'new password'
    case 'totpSetUp':
      return helpsNobody.has(answer.value.error) ? 'help' : 'app'
    case 'factorCode':
      return answer.value.way === FactorWay.FACTOR_WAY_TOTP ? 'app' : 'codes'
    default:
      return answer?.$case ?? ''
  }
}

const helpsNobody = new Set<CodeError>([CodeError.CODE_ERROR_PASSWORD_BY_MAIL, CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL])

export const silently = ({ browser, clientId }: SignedIn) => browser.authorize({ clientId, scope, prompt: 'none' })

type Tries = Record<string, (state: SignedIn) => Promise<string | { asks: string }>>

/** What each door answers: `open` or `shut` in its words, and for a page what it asks for. */
export const ofBrowsers: Tries = {
  'the page of an authorization request': async ({ browser, clientId }) => {
    const answer = await browser.authorize({ clientId, scope })
    const location = answer.answer?.$case === 'redirect' ? answer.answer.value.location : ''
    return location.startsWith(redirectUri) ? 'code' : { asks: askedAt(await browser.follow(answer)) }
  },
  'with `prompt=none`': async (state) => {
    const { code, error } = told(await silently(state))
    return code === undefined ? error! : 'code'
  },
  'a login application of your own (CreateCallback)': async ({ browser, session }) => {
    const { answer } = await browser.authorize({ clientId: 'own', scope })
    const location = answer?.$case === 'redirect' ? answer.value.location : ''
    const request = {
      ...callbackCodec.decode(new Uint8Array()),
      authRequestId: new URL(location).searchParams.get('authRequest')!,
    }
    const callbackKind = { $case: 'session' as const, value: { ...session, consentGiven: false } }
    const outcome = await reasonOf(createCallback.handle(users, { ...request, callbackKind }, call()))
    return outcome === 'in' ? 'code' : outcome
  },
  'the account, `/ui/account`': async ({ browser }) => {
    const page = await browser.account()
    return page.answer?.$case === 'account' ? 'account' : { asks: askedAt(page) }
  },
  'an invitation to the address of the person': async ({ browser, invitation }) => {
    const page = await browser.open(invitation)
    const isThere = page.answer?.$case === 'invitation' && page.answer.value.account !== undefined
    return isThere ? 'invitation' : { asks: askedAt(page) }
  },
}

export const ofPrograms: Tries = {
  'a call with a session token': ({ session }) => calledWith(session.sessionToken),
  'a code at the token endpoint': async ({ clientId, codes }) => {
    const outcome = await reasonOf(redeem(codes.shift()!, clientId))
    return outcome === 'in' ? 'tokens' : outcome.toLowerCase()
  },
  'a refresh token': async ({ tokens }) => {
    try {
      const { refreshToken } = await issue({ grantType: 'refresh_token', refreshToken: tokens.refreshToken })
      tokens.refreshToken = refreshToken!
      return 'tokens'
    } catch (error) {
      return (error as { reason: string }).reason.toLowerCase()
    }
  },
  'userinfo, with an access token': async ({ tokens }) => calledWith(tokens.accessToken),
  'introspection of an access token': async ({ tokens }) =>
    (await findActive(users, tokens.accessToken, call())) ? 'active' : 'inactive',
}

const calledWith = (token: string) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }, call()))
