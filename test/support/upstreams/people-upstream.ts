import type { IncomingMessage, ServerResponse } from 'node:http'
import { vi } from 'vitest'
import { formOf } from '../browsers/browser.ts'
import { listen, type Upstream } from './upstreams.ts'

/** Whom an upstream signs in, without asking. */
export interface PersonThere {
  sub: string
  claims?: Record<string, unknown>
  /** Of a cancelled sign-in. */
  refuses?: boolean
}

/** A form that an upstream has the browser post. */
export interface PostedForm {
  url: URL
  fields: Record<string, string>
}

export interface PeopleUpstream extends Upstream {
  /** Whom it signs in next. */
  person: PersonThere
  /** The requests for a sign-in that came, by their parameters. */
  asked: Record<string, string>[]
  /** Opens an address of it as a browser does, and returns where it leads in the end. */
  visit(url: string): Promise<URL>
  /** The same, where a form is posted in the end. */
  visitForm(url: string): Promise<PostedForm>
}

/** What a test puts before an oidc-provider. */
export interface InFront {
  /** The keys that it signs by, in place of its own. */
  jwks?: { keys: object[] }
  /** Answers a request in its place, and says whether it did. */
  answer?(request: IncomingMessage, response: ServerResponse): boolean
}

/** An oidc-provider with the client `roster`, which any redirect URI may belong to. */
export async function startPeopleUpstream(clientSecret: string, inFront: InFront = {}): Promise<PeopleUpstream> {
  // Of Apple: Roster signs another one each time.
  const isSigned = (secret: string) => secret.split('.').length === 3
  const { Provider } = await import('oidc-provider')
  const advice = [vi.spyOn(console, 'info'), vi.spyOn(console, 'warn')].map((each) => each.mockReturnValue())
  const state = { person: { sub: 'nobody' } as PersonThere, asked: [] as Record<string, string>[] }
  const upstream = await listen((url) => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: 'roster',
          client_secret: clientSecret,
          redirect_uris: ['https://roster.example.com/callback'],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      claims: {
        openid: ['sub', 'amr', 'acr', 'realm', 'https://acme.example/first'],
        profile: ['name', 'given_name', 'family_name', 'preferred_username', 'nickname', 'locale'],
        email: ['email', 'email_verified'],
      },
      conformIdTokenClaims: false,
      ...(inFront.jwks && { jwks: inFront.jwks }),
      cookies: { keys: ['a key of the upstream'] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: () => ({ sub, ...state.person.claims }),
      }),
      loadExistingGrant: async ({ oidc: { client, session } }) => {
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
        grant.addOIDCScope('openid profile email')
        await grant.save()
        return grant
      },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      renderError: (context) => void (context.body = 'an error'),
    })
    provider.Client.prototype.redirectUriAllowed = () => true
    provider.Client.prototype.compareClientSecret = (sent) => sent === clientSecret || isSigned(sent)
    const answer = provider.callback()
    return async (request, response) => {
      if (inFront.answer?.(request, response)) return
      const at = new URL(request.url!, url)
      if (at.pathname === '/auth') state.asked.push(Object.fromEntries(at.searchParams))
      if (!at.pathname.startsWith('/interaction/')) return answer(request, response)
      const { person } = state
      const { amr, acr } = (person.claims ?? {}) as { amr?: string[]; acr?: string }
      const login = { accountId: person.sub, ...(amr && { amr }), ...(acr && { acr }) }
      const result = person.refuses ? { error: 'access_denied' } : { login }
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
    }
  })
  for (const each of advice) each.mockRestore()
  return Object.assign(state, upstream, {
    async visit(address: string): Promise<URL> {
      const end = await follow(address)
      if (end instanceof URL) return end
      throw new Error(`the upstream answers ${end.status}: ${end.body}`)
    },
    async visitForm(address: string): Promise<PostedForm> {
      const end = await follow(address)
      const form = end instanceof URL ? undefined : formOf(end.body)
      if (!form) throw new Error('the upstream posts no form')
      return { url: new URL(form.action), fields: form.fields }
    },
  })

  async function follow(address: string): Promise<URL | { status: number; body: string }> {
    const jar = new Map<string, string>()
    let to = new URL(address)
    for (let step = 0; step < 10 && to.origin === upstream.url; step++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await fetch(to, { redirect: 'manual', headers: { cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [name, value] = set.split(';')[0]!.split(/=(.*)/s) as [string, string]
        jar.set(name, value)
      }
      const location = answer.headers.get('location')
      if (!location) return { status: answer.status, body: await answer.text() }
      to = new URL(location, to)
    }
    return to
  }
}
