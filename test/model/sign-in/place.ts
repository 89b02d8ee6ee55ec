import { inject } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import type { Operation } from '../../examples/contract.ts'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { openBrowser, redirectUri, type Shown } from '../../examples/sign-in.ts'
import { call } from '../../e2e/clients/encodings.ts'
import type { PeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { listing, newProvider } from './provider-rules.ts'
import type { Application, Authorization, Model, Name, Page } from './rules.ts'

/** The real things that a model stands for. */
export interface Place {
  url: string
  act(operation: Operation, request: object, organization?: string): Promise<any>
  home: string
  abroad: string
  /** People of both organizations who do nothing: by them it shows what users knows by now. */
  witnesses: { home: string; abroad: string }
  projectId: string
  people: Record<Name, { userId: string; userName: string; password: string; codes: string[] }>
  applications: Record<Application, ExampleApplication>
  browsers: ReturnType<typeof openBrowser>[]
  shown: WeakMap<Page, Shown>
  given: WeakMap<Authorization, { code: string; access?: string; refresh?: string; idToken?: string }>
  /** A provider of Ada's organization, and who has been there whom her account was connected to. */
  upstream: PeopleUpstream
  idpId: string
  idpName: string
  subjects: string[]
  /** Where mails arrive. */
  mailbox: string | undefined
  /** Lets so many seconds pass. Undefined where others need the time as it is. */
  wait: ((seconds: number) => Promise<void>) | undefined
  /** Seconds that had passed so when the case began. */
  before: number
}

/** Two people of two organizations, two applications and two browsers. */
export async function setPlace(
  house: { url: string; token: string; mailbox: string | undefined } | undefined,
  {
    upstream,
    clientSecret,
    wait,
    before = 0,
  }: Pick<Place, 'upstream' | 'wait'> & { clientSecret: string; before?: number },
): Promise<{ model: Model; real: Place }> {
  const { url, adminToken, mailboxUrl, house: shared } = inject('roster')
  const isThere = house !== undefined || shared !== undefined
  const { token, mailbox, ...at } = house ?? { url, token: adminToken, mailbox: mailboxUrl }
  const act: Place['act'] = async (operation, request, organization) =>
    ok(await call(operation, request as never, { ...at, token, organization }))
  const add = async () => (await act('AddOrganization', { name: unique('Organization') })).organizationId as string
  const [home, abroad] = [await add(), await add()]
  const addPerson = async (organization: string) => {
    const [userName, password] = [unique('human'), unique('Password')]
    const email = { email: uniqueEmail(), isVerified: true }
    const { userId } = await act('AddHumanUser', { userName, profile, email, password }, organization)
    return { userId: userId as string, userName, password, codes: [] }
  }
  const addApplication = async (more: object, ofProject: object) => {
    const { id: projectId } = await act('AddProject', { name: unique('Project'), ...ofProject }, home)
    const request = {
      projectId,
      name: unique('Application'),
      appType: 'OIDC_APP_TYPE_WEB',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
      grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
      redirectUris: [redirectUri],
      ...more,
    }
    return { projectId, ...(await act('AddOIDCApplication', request, home)) } as ExampleApplication
  }
  const idpName = unique('Acme')
  const oidc = { issuer: upstream.url, clientId: 'roster' }
  const options = { isLinkingAllowed: true }
  const request = { name: idpName, clientSecret, oidc, options }
  const idpId = isThere ? (await act('AddOrganizationIdentityProvider', request, home)).idpId : ''
  const own = await addApplication({ firstParty: true }, { hasProjectCheck: false })
  const asking = await addApplication({}, { hasProjectCheck: true })
  const real: Place = {
    ...at,
    mailbox,
    act,
    home,
    abroad,
    witnesses: { home: (await addPerson(home)).userId, abroad: (await addPerson(abroad)).userId },
    projectId: asking.projectId,
    upstream,
    idpId,
    idpName,
    subjects: [],
    people: { ada: await addPerson(home), bob: await addPerson(abroad) },
    applications: { own, asking },
    browsers: [openBrowser(at.url), openBrowser(at.url)],
    shown: new WeakMap(),
    given: new WeakMap(),
    wait,
    before,
  }
  await act('UpdateLoginPolicy', listing(idpId, isThere), home)
  return { model: newModel(before, isThere), real }
}

function newModel(before: number, isThere: boolean): Model {
  const user = () => ({
    locked: false,
    lockedBy: '',
    granted: false,
    signOuts: 0,
    organizationIsOpen: true,
    organizationClosings: 0,
    hasApp: false,
    needsApp: false,
    usedCodes: [],
  })
  const application = () => ({ isOpen: true, closings: 0, closedBy: '' })
  const consent = () => ({ given: false, scopes: [], withdrawals: 0 })
  const browser = () => ({ sessions: [], lastUsed: {}, pages: [] })
  return {
    tick: 0,
    time: 0,
    before,
    provider: newProvider(isThere),
    users: { ada: user(), bob: user() },
    applications: { own: application(), asking: application() },
    consents: { 'ada own': consent(), 'ada asking': consent(), 'bob own': consent(), 'bob asking': consent() },
    browsers: [browser(), browser()],
    authorizations: [],
    failures: 0,
  }
}
