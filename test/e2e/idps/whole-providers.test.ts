import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { addition, examples, forOrganization } from '../../examples/idps.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { wholeProviders } from '../../examples/whole-providers.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let organization: string
let owner: CallOptions

beforeAll(async () => {
  organization = await newOrganization()
  owner = await newMember(organization, ['ORG_OWNER'])
})

const owners = [
  { of: 'the instance', nameOf: (operation: Operation) => operation, caller: () => admin(organization) },
  { of: 'an organization', nameOf: forOrganization, caller: () => owner },
]

const options = { isLinkingAllowed: true, isCreationAllowed: true, isAutoUpdate: true }
const automatic = { isCreationAllowed: true, isAutoCreation: true }

describe.each(over('grpc'))('over $encoding,', ({ call }) => {
  describe.each(owners)('a provider of $of', ({ of, nameOf, caller }) => {
    const ask = (operation: Operation, request: JsonObject) => call(nameOf(operation), request, caller())
    const get = async (idpId: string) => ok(await ask('GetIdentityProvider', { idpId })).identityProvider
    const recordOf = async (idpId: string) => ok(await ask('GetIDP', { idpId })).idp
    const add = async (example = wholeProviders[0]!, more: JsonObject = { options }) => {
      const name = unique('Whole')
      const { kind, settings, secret } = example
      const { idpId, details } = ok(await ask('AddIdentityProvider', { name, [kind]: settings, ...secret, ...more }))
      return { idpId: idpId as string, name, details }
    }

    test.each(wholeProviders)('of the kind $kind is written and read as a whole', async (example) => {
      const { kind, number, settings, changes, record, secret } = example
      const { idpId, name, details } = await add(example)
      expect(idpId).toMatch(/^\d{18}$/)
      expect(await get(idpId)).toEqual({
        idpId,
        details,
        state: 'IDP_STATE_ACTIVE',
        name,
        owner: of === 'the instance' ? 'IDP_OWNER_SYSTEM' : 'IDP_OWNER_ORG',
        kind: number,
        options,
        [kind]: settings,
      })
      expect(await recordOf(idpId)).toMatchObject({ autoRegister: true, asksFirst: true, ...record })
      const replacement = { idpId, name: unique('Other'), options: automatic, [kind]: changes }
      const replaced = ok(await ask('ReplaceIdentityProvider', replacement))
      expect(await get(idpId)).toMatchObject({
        details: replaced.details,
        name: replacement.name,
        options: automatic,
        [kind]: changes,
      })
      expect((await get(idpId))[kind]).toEqual(changes)
      // One event for what every provider has, one for what its kind has, and one for what becomes of claims, after two.
      expect(replaced.details.sequence).toBe('5')
      expect(ok(await ask('ReplaceIdentityProvider', replacement)).details).toEqual(replaced.details)
      if (kind === 'jwt') return
      expect(ok(await ask('ReplaceIdentityProvider', { ...replacement, ...secret })).details.sequence).toBe('6')
    })

    test('keeps what its kind has no field for', async () => {
      const { idpId, name } = await add(wholeProviders.find(({ kind }) => kind === 'azureAd'))
      const tenants = { ids: ['11111111-2222-3333-4444-555555555555'] }
      ok(await ask('UpdateIDPOIDCConfig', { idpId, tenants }))
      ok(await ask('ReplaceIdentityProvider', { idpId, name, azureAd: { clientId: 'other' } }))
      expect((await recordOf(idpId)).oidc).toMatchObject({ clientId: 'other', tenants })
      expect((await get(idpId)).options ?? {}).toEqual({})
      const claims = { mapping: { userName: 'upn' }, isAutoUpdate: true }
      ok(await ask('SetIDPClaims', { idpId, ...claims }))
      const updating = { idpId, name, azureAd: { clientId: 'other' }, options: { isAutoUpdate: true } }
      const { details } = ok(await ask('ReplaceIdentityProvider', updating))
      expect(await get(idpId)).toMatchObject({ options: { isAutoUpdate: true }, details })
      ok(await ask('ReplaceIdentityProvider', { ...updating, options: {} }))
      expect((await recordOf(idpId)).claims).toEqual({ mapping: claims.mapping })
    })

    test('has its switches by UpdateIDP, too, which leaves those that it does not name', async () => {
      const { idpId, name } = await add()
      const updating = { idpId, name, stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true }
      ok(await ask('UpdateIDP', updating))
      expect((await get(idpId)).options).toEqual(options)
      ok(await ask('UpdateIDP', { ...updating, refusesLinking: true, asksFirst: false }))
      ok(await ask('UpdateIDP', { ...updating, name: unique('Other') }))
      expect((await get(idpId)).options).toEqual({ ...automatic, isAutoUpdate: true })
    })

    test('that was made by its protocol is of its kind, too, and stays as it is without a change', async () => {
      const name = unique('Protocol')
      const { idpId, details } = ok(await ask('AddOIDCIDP', addition(examples.oidc, name)))
      expect(await get(idpId)).toMatchObject({ kind: 'IDP_KIND_AZURE_AD', options: { isLinkingAllowed: true } })
      const plain = { ...addition(examples.oauth, unique('Protocol')) }
      const oauth = ok(await ask('AddOAuthIDP', plain))
      const shown = await get(oauth.idpId)
      expect(shown.oauth).toEqual({ ...examples.oauth.settings, usePkce: true })
      const { options: same, oauth: settings } = shown
      const again = { idpId: oauth.idpId, name: plain['name']!, options: same, oauth: settings }
      expect(ok(await ask('ReplaceIdentityProvider', again)).details).toEqual(oauth.details)
      expect(details.sequence).toBe('1')
    })

    test('is found by its name and its id', async () => {
      const [one, other] = [await add(), await add()]
      const found = async (request: JsonObject) =>
        (ok(await ask('SearchIdentityProviders', request)).identityProviders ?? []) as JsonObject[]
      expect(await found({ idpId: one.idpId })).toEqual([await get(one.idpId)])
      expect(await found({ name: other.name })).toEqual([await get(other.idpId)])
      expect(await found({ name: other.name, idpId: one.idpId })).toEqual([])
    })

    test('is refused for what does not belong together, by the names of the fields', async () => {
      const [oidc, , jwt] = wholeProviders
      const apple = wholeProviders.at(-1)!
      const faultsOf = async (operation: Operation, request: JsonObject) =>
        factsOf(await ask(operation, request)).fields
      const asked = ({ kind, settings, secret }: (typeof wholeProviders)[number], more: JsonObject = {}) => ({
        name: unique('Faulty'),
        [kind]: settings,
        ...secret,
        ...more,
      })
      expect(await faultsOf('AddIdentityProvider', asked(oidc!, { options: { isAutoCreation: true } }))).toEqual([
        'options.isAutoCreation',
      ])
      expect(await faultsOf('AddIdentityProvider', asked(oidc!, { clientSecret: '' }))).toEqual(['clientSecret'])
      expect(await faultsOf('AddIdentityProvider', asked(oidc!, { privateKey: 'AAAA' }))).toEqual(['privateKey'])
      expect(await faultsOf('AddIdentityProvider', asked(jwt!, { clientSecret: 'secret' }))).toEqual(['clientSecret'])
      expect(await faultsOf('AddIdentityProvider', asked(apple, { privateKey: 'AAAA' }))).toEqual(['privateKey'])
      expect(await faultsOf('AddIdentityProvider', asked(apple, { privateKey: '' }))).toEqual(['privateKey'])
      expect(
        await faultsOf('AddIdentityProvider', asked(oidc!, { oidc: { clientId: 'c', issuer: 'https://10.0.0.1' } })),
      ).toEqual(['oidc.issuer'])
      const gitlab = { clientId: 'c', issuer: 'https://gitlab.com' }
      expect(await faultsOf('AddIdentityProvider', { name: 'n', gitlabSelfHosted: gitlab, clientSecret: 's' })).toEqual(
        ['gitlabSelfHosted.issuer'],
      )
      const azureAd = { clientId: 'c', emailVerified: true }
      expect(await faultsOf('AddIdentityProvider', { name: 'n', azureAd, clientSecret: 's' })).toEqual([
        'azureAd.emailVerified',
      ])
    })

    test('has one name and one kind', async () => {
      const [one, other] = [await add(), await add()]
      const { kind, settings } = wholeProviders[0]!
      const reasonOf = async (request: JsonObject) => factsOf(await ask('ReplaceIdentityProvider', request)).reason
      expect(await reasonOf({ idpId: one.idpId, name: other.name, [kind]: settings })).toBe('IDP_NAME_TAKEN')
      expect(await reasonOf({ idpId: one.idpId, name: 'n', google: { clientId: 'c' } })).toBe('IDP_TYPE_MISMATCH')
      expect(await reasonOf({ idpId: unique('unknown'), name: 'n', google: { clientId: 'c' } })).toBe('IDP_NOT_FOUND')
      const { idpId } = await add(undefined, {})
      const elsewhere = of === 'the instance' ? 'GetOrganizationIdentityProvider' : 'GetIdentityProvider'
      expect(factsOf(await call(elsewhere, { idpId }, admin(organization))).reason).toBe('IDP_NOT_FOUND')
    })
  })
})
