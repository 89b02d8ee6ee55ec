import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { addition, examples, forOrganization, ofOneProvider, protocols } from '../../examples/idps.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
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

describe.each(over('grpc'))('over $encoding,', ({ call }) => {
  describe.each(owners)('a provider of $of', ({ of, nameOf, caller }) => {
    const ask = (operation: Operation, request: JsonObject) => call(nameOf(operation), request, caller())
    const get = async (idpId: string) => ok(await ask('GetIDP', { idpId })).idp
    const reasonOf = async (operation: Operation, request: JsonObject) => factsOf(await ask(operation, request)).reason
    const added = async (example = examples.oidc, name = unique('Provider')) => {
      const { idpId } = ok(await ask(example.add, addition(example, name)))
      return { idpId: idpId as string, name }
    }

    describe.each(protocols)('of the type $config', (example) => {
      const { add, update, config, type, settings, changes, secret } = example

      test('shows all that was given but the secret', async () => {
        const request: JsonObject = { ...addition(example), stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true }
        const { idpId, details } = ok(await ask(add, request))
        expect(details).toMatchObject({ sequence: '1', resourceOwner: of === 'the instance' ? 'roster' : organization })
        expect(await get(idpId)).toEqual({
          id: idpId,
          idpId,
          details,
          state: 'IDP_STATE_ACTIVE',
          name: request['name'],
          type,
          stylingType: 'STYLING_TYPE_GOOGLE',
          autoRegister: true,
          [config]: settings,
        })
      })

      test('changes only the settings that are sent, and nothing where they are those of today', async () => {
        const { idpId } = await added(example)
        let expected = settings
        for (const [field, value] of Object.entries(changes)) {
          const { details } = ok(await ask(update, { idpId, [field]: value }))
          expected = { ...expected, [field]: value }
          expect(await get(idpId)).toMatchObject({ details, [config]: expected })
          expect((await get(idpId))[config]).toEqual(expected)
        }
        const { details } = await get(idpId)
        expect(ok(await ask(update, { idpId })).details).toEqual(details)
        expect(ok(await ask(update, { idpId, ...changes })).details).toEqual(details)
        if (!secret) return
        const replaced = ok(await ask(update, { idpId, [secret]: unique('idp-secret') }))
        expect(Number(replaced.details.sequence)).toBe(Number(details.sequence) + 1)
        expect((await get(idpId))[config]).toEqual(expected)
      })

      test('has no settings of another type', async () => {
        const { idpId } = await added(example)
        for (const other of protocols.filter((one) => one !== example))
          expect(await reasonOf(other.update, { idpId, ...other.changes })).toBe('IDP_TYPE_MISMATCH')
      })
    })

    test('loses its scopes where they are cleared, and only there', async () => {
      for (const example of protocols.filter(({ settings }) => settings['scopes'])) {
        const { idpId } = await added(example)
        ok(await ask(example.update, { idpId, scopes: [] }))
        expect((await get(idpId))[example.config].scopes).toEqual(example.settings['scopes'])
        ok(await ask(example.update, { idpId, clearScopes: true }))
        expect((await get(idpId))[example.config].scopes).toBeUndefined()
        expect(factsOf(await ask(example.update, { idpId, clearScopes: true, scopes: ['a'] })).fields).toEqual([
          'clearScopes',
        ])
      }
    })

    test('has either metadata or the address of some', async () => {
      const { idpId } = await added(examples.saml)
      ok(await ask('UpdateIDPSAMLConfig', { idpId, metadataUrl: 'https://i.example/metadata' }))
      const { saml } = await get(idpId)
      expect(saml).toMatchObject({ metadataUrl: 'https://i.example/metadata' })
      expect(saml).not.toHaveProperty('metadataXml')
    })

    test('is deactivated and reactivated, once each', async () => {
      const { idpId } = await added()
      expect(await reasonOf('ReactivateIDP', { idpId })).toBe('IDP_NOT_INACTIVE')
      const { details } = ok(await ask('DeactivateIDP', { idpId }))
      expect(await get(idpId)).toMatchObject({ details, state: 'IDP_STATE_INACTIVE' })
      expect(await reasonOf('DeactivateIDP', { idpId })).toBe('IDP_ALREADY_INACTIVE')
      ok(await ask('ReactivateIDP', { idpId }))
      expect(await get(idpId)).toMatchObject({ state: 'IDP_STATE_ACTIVE' })
    })

    test('has the claims that were set last, all of them, and what counts as two factors where its protocol says how', async () => {
      const { idpId } = await added()
      const claims = { mapping: { email: '/a/mail', nickName: '' }, secondFactor: { amr: ['mfa'], acr: ['phr'] } }
      const { details } = ok(await ask('SetIDPClaims', { idpId, ...claims, isAutoUpdate: true }))
      expect(ok(await ask('SetIDPClaims', { idpId, ...claims, isAutoUpdate: true })).details).toEqual(details)
      expect(await get(idpId)).toMatchObject({ details, claims: { ...claims, isAutoUpdate: true } })
      ok(await ask('SetIDPClaims', { idpId, mapping: { language: 'lang' } }))
      expect((await get(idpId)).claims).toEqual({ mapping: { language: 'lang' } })
      const { idpId: oauth } = await added(examples.oauth)
      const refused = await ask('SetIDPClaims', { idpId: oauth, secondFactor: { amr: ['mfa'] } })
      expect(factsOf(refused).fields).toEqual(['secondFactor'])
    })

    test('that was removed is unknown to every operation, and its name is free', async () => {
      const { idpId, name } = await added()
      expect(await reasonOf(examples.oidc.add, addition(examples.oidc, name.toUpperCase()))).toBe('IDP_NAME_TAKEN')
      const { details } = ok(await ask('RemoveIDP', { idpId }))
      expect(details.sequence).toBe('2')
      const requests = ofOneProvider(name)
      for (const [operation, request] of requests)
        expect(await reasonOf(operation, { idpId, ...request })).toBe('IDP_NOT_FOUND')
      expect(ok(await ask('SearchIDPs', { name })).idps ?? []).toEqual([])
      expect((await added(examples.jwt, name)).idpId).not.toBe(idpId)
    })

    test('is found at once by its name, type and state, in both orders, page by page', async () => {
      const prefix = unique('Search')
      const [first, second, third] = [
        await added(examples.oidc, `${prefix} B`),
        await added(examples.saml, `${prefix} a`),
        await added(examples.oidc, `${prefix} C`),
      ]
      ok(await ask('DeactivateIDP', { idpId: third.idpId }))
      const found = async (request: JsonObject) =>
        (ok(await ask('SearchIDPs', request)).idps ?? []).map(({ id }: { id: string }) => id)
      const named = (name: string, method: string) => ({ name, nameMethod: `TEXT_QUERY_METHOD_${method}` })
      const ours = named(prefix.toUpperCase(), 'STARTS_WITH_IGNORE_CASE')
      expect(await found(ours)).toEqual([second.idpId, first.idpId, third.idpId])
      expect(await found({ ...ours, descending: true })).toEqual([third.idpId, first.idpId, second.idpId])
      const byAge = { ...ours, sortingColumn: 'IDP_FIELD_NAME_CREATION_DATE' }
      expect(await found(byAge)).toEqual([first.idpId, second.idpId, third.idpId])
      expect(await found({ ...ours, type: 'IDP_TYPE_SAML' })).toEqual([second.idpId])
      expect(await found({ ...ours, state: 'IDP_STATE_INACTIVE' })).toEqual([third.idpId])
      expect(await found({ ...ours, state: 'IDP_STATE_ACTIVE', type: 'IDP_TYPE_OIDC' })).toEqual([first.idpId])
      expect(await found({ name: first.name })).toEqual([first.idpId])
      expect(await found({ name: first.name.toLowerCase() })).toEqual([])
      expect(await found(named(`${prefix.slice(3)} A`, 'ENDS_WITH_IGNORE_CASE'))).toEqual([second.idpId])
      expect(await found(named(prefix.slice(2, -2), 'CONTAINS'))).toHaveLength(3)

      const page = ok(await ask('SearchIDPs', { ...byAge, limit: 2, withTotal: true }))
      expect(page).toMatchObject({ total: 3, idps: [await get(first.idpId), await get(second.idpId)] })
      const next = { ...byAge, limit: 2, cursor: page.nextCursor }
      const last = ok(await ask('SearchIDPs', next))
      expect([last.idps, last.nextCursor, last.total]).toEqual([[await get(third.idpId)], undefined, undefined])
      expect(await reasonOf('SearchIDPs', { ...next, descending: true })).toBe('CURSOR_INVALID')
    })
  })

  test('a provider is unknown to every other owner, and no one else takes its name', async () => {
    const abroad = await newMember(await newOrganization(), ['ORG_OWNER'])
    const name = unique('Provider')
    const ours = ok(await call('AddOrganizationOIDCIDP', addition(examples.oidc, name), owner)).idpId
    const instances = ok(await call('AddOIDCIDP', addition(examples.oidc, name), admin())).idpId
    ok(await call('AddOrganizationOIDCIDP', addition(examples.oidc, name), abroad))
    const requests = ofOneProvider(name)
    for (const [operation, request] of requests) {
      const errors = [
        await call(forOrganization(operation), { ...request, idpId: ours }, abroad),
        await call(forOrganization(operation), { ...request, idpId: instances }, abroad),
        await call(forOrganization(operation), { ...request, idpId: instances }, admin(organization)),
        await call(operation, { ...request, idpId: ours }, admin(organization)),
      ].map(({ error }) => error)
      const unknown = (await call(forOrganization(operation), { ...request, idpId: 'unknown' }, owner)).error
      expect(errors).toEqual(errors.map(() => unknown))
      expect(unknown).toMatchObject({ code: 5 })
    }
    const found = async (operation: Operation, caller: CallOptions) =>
      ok(await call(operation, { name }, caller)).idps.map(({ id }: { id: string }) => id)
    expect(await found('SearchOrganizationIDPs', owner)).toEqual([ours])
    expect(await found('SearchIDPs', admin(organization))).toEqual([instances])
  })

  test('a cursor of the one owner is none of another', async () => {
    for (let n = 0; n < 2; n++) ok(await call('AddOrganizationJWTIDP', addition(examples.jwt), owner))
    const { nextCursor: cursor } = ok(await call('SearchOrganizationIDPs', { limit: 1 }, admin(organization)))
    const other = await newOrganization()
    for (const answer of [
      await call('SearchOrganizationIDPs', { limit: 1, cursor }, admin(other)),
      await call('SearchOrganizationIDPs', { limit: 1, cursor }, owner),
      await call('SearchIDPs', { limit: 1, cursor }, admin(organization)),
    ])
      expect(factsOf(answer)).toMatchObject({ reason: 'CURSOR_INVALID', fields: ['cursor'] })
  })

  test('UpdateOrganizationIDP changes only the fields that are sent', async () => {
    const { idpId } = ok(await call('AddOrganizationJWTIDP', { ...addition(examples.jwt), autoRegister: true }, owner))
    const name = unique('Renamed')
    const { details } = ok(await call('UpdateOrganizationIDP', { idpId, name }, owner))
    expect(ok(await call('GetOrganizationIDP', { idpId }, owner)).idp).toMatchObject({
      name,
      autoRegister: true,
      details,
    })
    expect(ok(await call('UpdateOrganizationIDP', { idpId }, owner)).details).toEqual(details)
    ok(await call('UpdateOrganizationIDP', { idpId, autoRegister: false }, owner))
    const { idp } = ok(await call('GetOrganizationIDP', { idpId }, owner))
    expect([idp.name, idp.autoRegister]).toEqual([name, undefined])
  })
})
