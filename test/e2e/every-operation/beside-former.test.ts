import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { isNewEvent } from '#lib/events/new-events'
import { roster } from '#lib/health/release'
import { type Method, methods } from '#lib/rpc/methods'
import { contract, type Operation } from '../../examples/contract.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { callGrpc as call } from '../clients/grpc.ts'
import { startOwnHouse } from '../own-house.ts'
import { freePort } from '../../../deploy/local/ports.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
let house: Awaited<ReturnType<typeof startOwnHouse>>
let url: string
let former: postgres.Sql[] = []

beforeAll(async () => {
  if (byUrl) return
  const PORT = String(await freePort(0))
  url = `http://localhost:${PORT}`
  house = await startOwnHouse({}, { PORT, PUBLIC_URL: url })
  const { users, grants, idp } = house.servers.serviceDatabaseUrls
  former = Object.entries({ users, grants, idp }).map(([name, url]) =>
    postgres(url, { max: 1, connection: { application_name: `roster-${name} ${roster.former}.0` } }),
  )
  await Promise.all(former.map((replica) => replica`select 1`))
})
afterAll(async () => {
  await leave()
  await house?.stop()
})

const leave = () => Promise.all(former.map((replica) => replica.end()))
const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
const ask = async (name: string, request: JsonObject) => reason(await call(name as Operation, request, house.machine))
const session = { sessionId: 'x', sessionToken: 'y' }
const requests: Record<string, JsonObject> = {
  AddAPIApplication: { projectId: 'unknown', name: 'API' },
  AddClientSecret: { projectId: 'unknown', appId: 'x' },
  AddIDPLink: { userId: 'unknown', idpLink: { idpId: 'x', userId: 'y' } },
  AddOTPEmail: { userId: 'unknown' },
  AddOIDCApplication: { projectId: 'unknown', name: 'Web', redirectUris: ['https://app.example.com/callback'] },
  AddInvitation: { email: 'ada@example.com' },
  AddOrganizationDomain: { domain: 'example.com' },
  BulkAddInvitations: { invitations: [{ email: 'ada@example.com' }] },
  ConfirmOrganizationDomain: { orgId: 'unknown', domain: 'example.com' },
  CreateInviteCode: { userId: 'unknown' },
  CreatePasskeyRegistrationLink: { userId: 'unknown' },
  CreateCallback: { authRequestId: 'x', session },
  GetAuthRequest: { authRequestId: 'x' },
  LogOutByProvider: { idpId: 'unknown', logoutToken: 'x' },
  PatchApplication: { projectId: 'unknown', appId: 'x' },
  RemoveClientSecret: { projectId: 'unknown', appId: 'x', secretId: 'y' },
  RegisterPasskey: { userId: 'unknown', code: { id: 'x', code: 'y' } },
  RegisterU2F: { userId: 'unknown' },
  RemoveOTPEmail: { userId: 'unknown' },
  RegisterTOTP: { userId: 'unknown' },
  VerifyTOTPRegistration: { userId: 'unknown', code: '123456' },
  RemoveTOTP: { userId: 'unknown' },
  GenerateRecoveryCodes: { userId: 'unknown' },
  RemoveRecoveryCodes: { userId: 'unknown' },
  RemoveIDPLink: { userId: 'unknown', idpId: 'x', linkedUserId: 'y' },
  RemoveOrganizationDomain: { domain: 'example.com' },
  RemovePasskey: { userId: 'unknown', passkeyId: 'x' },
  RemoveU2F: { userId: 'unknown', u2fId: 'x' },
  ResendInviteCode: { userId: 'unknown' },
  ResendInvitation: { invitationId: 'x' },
  ResendMail: { userId: 'x', mailId: 'x' },
  RetrieveIdentityProviderIntent: { idpIntentId: 'x', idpIntentToken: 'y' },
  RevokeInvitation: { invitationId: 'x' },
  SetIDPClaims: { idpId: 'unknown' },
  SetOrganizationIDPClaims: { idpId: 'unknown' },
  SetIDPSessions: { idpId: 'unknown' },
  SetOrganizationIDPRoles: { idpId: 'unknown' },
  SetOrganizationIDPSessions: { idpId: 'unknown' },
  SetClientSecretExpiration: { projectId: 'unknown', appId: 'x', secretId: 'y' },
  StartIdentityProviderIntent: {
    idpId: 'x',
    urls: { successUrl: 'https://app.example.com/', failureUrl: 'https://app.example.com/' },
  },
  VerifyInviteCode: { userId: 'unknown', verificationCode: 'x' },
  VerifyOrganizationDomain: { domain: 'example.com' },
  VerifyPasskeyRegistration: { userId: 'unknown', passkeyId: 'x', publicKeyCredential: {} },
  VerifyU2FRegistration: { userId: 'unknown', u2fId: 'x', publicKeyCredential: {} },
  SetSession: { ...session, password: 'z' },
}
const forms: Record<string, Record<string, string>> = {
  AddMyPasskey: {},
  AddPasskeyByLink: {},
  ChangeMyEmail: {},
  ChangeMyPasskey: { action: 'remove' },
  ChangeMyPassword: {},
  ChangeMyProfile: {},
  ChangeMyRecoveryCodes: { action: 'make' },
  ChangeMyTOTP: { action: 'begin' },
  CheckCode: { action: 'check' },
  ChooseNewPassword: { action: 'set' },
  CheckPasskey: { action: 'sign-in' },
  Decide: { action: 'allow' },
  DownloadMyData: {},
  DisownSession: { session_id: 'x' },
  EndMySession: { session_id: 'x' },
  FinishRecovery: { action: 'finish' },
  FinishRegistration: { action: 'finish' },
  LeaveAccount: { action: 'here' },
  OpenPasskeyLink: {},
  ProveMyEmail: { action: 'check' },
  Recover: { action: 'begin' },
  Register: { action: 'register' },
  RemoveMe: {},
  SignIn: { action: 'sign-in' },
  TakeBackEmail: { secret: 'x' },
  WithdrawMyConsent: { application_id: 'x' },
}
const isNew = [...methods.values()].filter((method) => method.isNew)
const pages = isNew.filter(({ page }) => page)
// What the gateway alone calls has no route.
const operations = isNew.filter(({ page, desc }) => !page && desc.name in contract).map(({ desc }) => desc.name)

describe.skipIf(byUrl)(`while a replica of the former release runs${why},`, () => {
  test('each operation that came with this one waits, after its permission and its rules', async () => {
    for (const name of operations) {
      const request = requests[name] ?? expect.fail(`a whole request of ${name} is missing here`)
      expect([name, await ask(name, request)]).toEqual([name, 'UPGRADE_UNDER_WAY'])
      expect([name, await ask(name, {})]).toEqual([name, 'VALIDATION_FAILED'])
      // The code is its proof, or the token.
      if (name === 'VerifyInviteCode' || name === 'LogOutByProvider') continue
      expect(reason(await call(name as Operation, request, { url: house.url }))).toBe('TOKEN_MISSING')
    }
  })

  test('each page waits', async () => {
    for (const page of pages) expect([page.desc.name, await statusOf(page)]).toEqual([page.desc.name, 503])
  })

  test.skipIf(!isNewEvent({ aggregate_type: 'login.policy', type: 'changed' }))(
    'an event waits that came with this one, and what changes nothing does not',
    async () => {
      // What is stored in the same transaction does not.
      const beside = ['one', 'other'].map((name) => ask('AddMachineUser', { userName: name, name }))
      const changing = ask('UpdateLoginPolicy', { settings: { allowRegister: true } })
      expect(await Promise.all([changing, ...beside])).toEqual(['UPGRADE_UNDER_WAY', 'ok', 'ok'])
      expect(await ask('UpdateLoginPolicy', { settings: {} })).toBe('ok')
      const provider = { idpId: 'unknown', name: 'Acme' }
      expect(await ask('UpdateIDP', { ...provider, refusesLinking: true })).toBe('UPGRADE_UNDER_WAY')
      expect(await ask('UpdateIDP', provider)).toBe('IDP_NOT_FOUND')
      const callback = { idpId: 'unknown', callback: 'IDP_CALLBACK_OWN' }
      expect(await ask('UpdateIDPOIDCConfig', callback)).toBe('UPGRADE_UNDER_WAY')
    },
  )

  test('and no longer', async () => {
    await leave()
    await expect.poll(() => ask('UpdateLoginPolicy', { settings: { allowRegister: true } })).toBe('ok')
    for (const name of operations) expect(await ask(name, requests[name]!)).not.toBe('UPGRADE_UNDER_WAY')
    for (const page of pages) expect([page.desc.name, await statusOf(page)]).not.toEqual([page.desc.name, 503])
  })
})

async function statusOf({ desc, http }: Method): Promise<number> {
  const path = http!.template.replace(/\{.+?\}/g, '0190a8a0-0000-7000-8000-000000000000')
  const form = http!.verb === 'GET' ? {} : { body: new URLSearchParams(forms[desc.name]), headers: { origin: url } }
  return (await fetch(url + path, { method: http!.verb, redirect: 'manual', ...form })).status
}
