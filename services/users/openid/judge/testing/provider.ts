import {
  FinishProviderSignInResponse as finishCodec,
  ProviderClaims as claimsCodec,
} from '#gen/roster/idp/v1/internal_service'
import {
  type PageAnswer,
  ReturnFromProviderRequest as returnCodec,
  SignInByProviderRequest as pressCodec,
} from '#gen/roster/users/v1/sign_in_service'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { linkKey } from '../../../directory/events/links.ts'
import { linking } from '../../../directory/links/link.ts'
import { openIdentityProviderIntent } from '../../../pages/operations/provider/open-identity-provider-intent.ts'
import { returnFromProvider } from '../../../pages/operations/provider/return-from-provider.ts'
import { signInByProvider } from '../../../pages/operations/provider/sign-in-by-provider.ts'
import { allow, call, users } from '../../../sessions/factors/passkey/testing/world.ts'
import type { Person, Session } from '../../../sessions/factors/testing/second-factors.ts'
import { createSession } from '../../../sessions/operations/session/create-session.ts'
import { startIdentityProviderIntent } from '../../../sessions/operations/idp-links/idp-intents.ts'

/** A provider of the people's organization. */
export const idpId = 'provider-of-acme'
const issuer = 'https://provider.example.com'

/** The organization has a provider, which its policy lists. Whoever comes back from there is proved to be who `proves` says. */
export async function openProvider(): Promise<void> {
  await users.sql`
    insert into identity_providers (idp_id, organization_id, sequence, signs_in, name, styling_type)
    values (${idpId}, 'acme', 1, true, 'Acme', 0)
  `
  const proved = { ...finishCodec.decode(new Uint8Array()), issuer, claims: claimless, ownerOrganizationId: 'acme' }
  Object.assign(users, {
    idp: {
      beginProviderSignIn: ({ state }: { state: string }) => Promise.resolve({ url: state, headerName: '' }),
      finishProviderSignIn: ({ answer }: { answer: string }) =>
        Promise.resolve({ ...proved, subject: new URLSearchParams(answer).get('code')! }),
    },
  })
  await list(true)
}

const claimless = claimsCodec.decode(new Uint8Array())

export const list = (isListed: boolean) =>
  allow({ identityProviders: { idpIds: isListed ? [idpId] : [], domains: [] } }, 'acme')

export const serve = (serves: boolean) => users.sql`update identity_providers set signs_in = ${serves}`

const linkOf = ({ userId }: Person) => ({ idpId, issuer, subject: userId })

/** Links a person, whose subject there is their id here. */
export function link(person: Person): Promise<void> {
  return users.store.execute<User, UserEvent, undefined, void>({
    aggregate: { type: 'user', id: person.userId },
    call: call(),
    decide: () => ({ ...linking(linkOf(person)), answer: undefined }),
    respond: () => undefined,
  })
}

export function unlink(person: Person): Promise<void> {
  return users.store.execute<User, UserEvent, undefined, void>({
    aggregate: { type: 'user', id: person.userId },
    call: call(),
    decide: () => ({
      events: [{ type: 'idp.unlinked', payload: { idpId } }],
      releases: [linkKey(linkOf(person))],
      answer: undefined,
    }),
    respond: () => undefined,
  })
}

interface Coming {
  cookie: string
  trust: string
  take(answer: PageAnswer): Promise<PageAnswer>
}

const comeBack = { ...returnCodec.decode(new Uint8Array()), idpId }
const pages = 'https://login.example.com'

/** A session of the API, by a sign-in that a login application began. */
export async function sessionByIntent(person: Person): Promise<Session> {
  const urls = { successUrl: pages, failureUrl: pages }
  const asked = { idpId, urls, loginHint: '', promptsLogin: false, maxAge: undefined }
  const { idpIntentId } = await startIdentityProviderIntent.handle(users, asked, call())
  const opened = await openIdentityProviderIntent(users, { browser: '', idpIntentId }, call())
  const browser = opened.newBrowser
  const answer = { ...comeBack, browser, state: locationOf(opened), code: person.userId }
  const proved = new URL(locationOf(await returnFromProvider(users, answer, call()))).searchParams
  const idpIntent = { idpIntentId, idpIntentToken: proved.get('token')! }
  const request = { userId: '', loginName: '', password: '', lifetime: undefined, idpIntent }
  return createSession.handle(users, request, call())
}

function locationOf({ answer }: PageAnswer): string {
  return answer?.$case === 'redirect' ? answer.value.location : ''
}

/** Presses the button, and comes back. */
export async function comeBy(browser: Coming, { requestId, formToken }: PageAnswer, person: Person) {
  const pressed = { ...pressCodec.decode(new Uint8Array()), browser: browser.cookie, requestId, formToken, idpId }
  const leaving = await signInByProvider(users, pressed, call())
  const state = leaving.answer?.$case === 'leaving' ? leaving.answer.value.location : ''
  const back = { ...comeBack, browser: browser.cookie, trust: browser.trust, state, code: person.userId }
  return browser.take(await returnFromProvider(users, back, call()))
}
