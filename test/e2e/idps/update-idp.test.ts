import { describe, expect, test } from 'vitest'
import { admin, ok, unique } from '../../examples/people.ts'
import { newIdp } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

async function getIdp(idpId: string): Promise<any> {
  return ok(await json('GetIDP', { idpId }, admin())).idp
}

describe.each(over('connect'))('UpdateIDP over $encoding', ({ call }) => {
  const update = (request: object) => call('UpdateIDP', { ...request }, admin())

  test('updates all fields: a missing field is empty afterwards, and the connection stays', async () => {
    const { idpId, name } = await newIdp()
    const { oidc } = await getIdp(idpId)
    ok(await update({ idpId, name, stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true }))
    expect(await getIdp(idpId)).toMatchObject({ stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true, oidc })
    const renamed = unique('Renamed')
    const { details } = ok(await update({ idpId, name: renamed }))
    const [state, type] = ['IDP_STATE_ACTIVE', 'IDP_TYPE_OIDC']
    expect(await getIdp(idpId)).toEqual({ id: idpId, idpId, details, state, type, name: renamed, oidc })
  })

  test('answers with all four details, owned by the instance', async () => {
    const { idpId, name } = await newIdp()
    const before = (await getIdp(idpId)).details
    expect(before).toMatchObject({ sequence: '1', creationDate: before.changeDate })
    const { details } = ok(await update({ idpId, name, autoRegister: true }))
    expect(details).toEqual({ ...before, sequence: '2', changeDate: expect.any(String) })
    expect(details.resourceOwner).toBe(before.resourceOwner)
    expect(details.resourceOwner).toMatch(/\S/)
  })

  test('the same values: no event, the same details', async () => {
    const { idpId, name } = await newIdp()
    const { details } = ok(await update({ idpId, name }))
    expect(details.sequence).toBe('1')
    expect(details).toEqual((await getIdp(idpId)).details)
  })

  test('no other provider may take a name after NFKC and lower-casing, until it is given up', async () => {
    const { idpId, name } = await newIdp(unique('Ｇｒüne'))
    const other = await newIdp()
    const alike = name.normalize('NFKC').toUpperCase()
    expect(factsOf(await update({ idpId: other.idpId, name: alike }))).toMatchObject({
      code: 6,
      reason: 'IDP_NAME_TAKEN',
    })
    ok(await update({ idpId, name: alike }))
    ok(await update({ idpId, name: unique('Another') }))
    ok(await update({ idpId: other.idpId, name }))
  })

  test('no answer contains the secret', async () => {
    const { idpId } = await newIdp()
    expect(JSON.stringify(ok(await call('GetIDP', { idpId }, admin())))).not.toMatch(/secret/i)
  })
})
