import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { addMachineSecret } from '../operations/credential/add-machine-secret.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { callIn } from '../../testing/test-users.ts'
import { hashToken } from '../tokens/token.ts'
import { openOrganizations, reasonOf, soon } from './testing/organizations.ts'

const organizations = await openOrganizations()
const { users, own, happens, hasState, addMachine, addHuman, signIn, held } = organizations
beforeEach(() => organizations.begin())
afterAll(() => organizations.stop())

test('no user signs in to a deactivated organization; tokens of its machines are refused until it is active again, and its sessions end', async () => {
  const human = `${own.organizationId}-human`
  const machine = `${own.organizationId}-machine`
  await addHuman(human)
  await addMachine(machine)
  const expirationDate = undefined
  const { clientSecret } = await addMachineSecret.handle(
    users,
    { userId: machine, expirationDate },
    callIn(own.organizationId),
  )
  const obtain = async () =>
    issueToken.handle(
      users,
      {
        grantType: 'client_credentials',
        clientId: machine,
        clientSecret,
        scope: '',
        assertion: '',
        clientAssertion: '',
        clientAssertionType: '',
        dpopProof: '',
        code: '',
        redirectUri: '',
        codeVerifier: '',
        refreshToken: '',
        httpBasic: false,
        resource: [],
      },
      callIn(''),
    )
  const tokens = [(await signIn(human)).sessionToken, (await obtain()).accessToken]
  const holders = () =>
    Promise.all(tokens.map((token) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }, callIn('')))))
  expect(await holders()).toEqual(['ok', 'ok'])
  await happens('deactivated', 2)
  await hasState('inactive')
  expect(await holders()).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
  expect(await reasonOf(signIn(human))).toBe('CREDENTIALS_INVALID')
  expect(await reasonOf(obtain())).toBe('INVALID_CLIENT')
  await happens('reactivated', 3)
  await hasState('active')
  expect(await holders()).toEqual(['TOKEN_INVALID', 'ok'])
  const left = () => users.sql`select from tokens where user_id = ${human}`
  await vi.waitFor(async () => expect(await left()).toHaveLength(0), soon)
  expect(await reasonOf(signIn(human))).toBe('ok')
  expect(await reasonOf(obtain())).toBe('ok')
})

test('a sign-in that was decided before the deactivation and would be stored after it is refused', async () => {
  await addHuman(`${own.organizationId}-human`)
  const { context, arrived, release } = held()
  const late = reasonOf(signIn(`${own.organizationId}-human`, context))
  await arrived
  await happens('deactivated', 2)
  await hasState('inactive')
  release()
  expect(await late).toBe('CREDENTIALS_INVALID')
})

test('an event that comes after a later one changes nothing', async () => {
  await happens('reactivated', 3)
  await hasState('active')
  await happens('deactivated', 2)
  const mine = own.organizationId
  own.organizationId = `${mine}-next`
  await happens('deactivated', 2)
  await hasState('inactive')
  own.organizationId = mine
  await hasState('active')
})
