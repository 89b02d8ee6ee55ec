import { unique } from './people.ts'
import { denied, type ErrorCase, exists, fails, invalid, needsCaller, notFound, owner, type World } from './world.ts'

const same = ({ idp }: World) => ({ ...idp })
const added = (name: string) => ({
  name,
  clientId: 'client',
  clientSecret: unique('client-secret'),
  issuer: 'https://issuer.example.com',
})

/** Identity providers. */
export const idpErrors: ErrorCase[] = [
  ...needsCaller('UpdateIDP', same),
  fails('UpdateIDP', denied, 'an organization owner calls', same, owner),
  fails('UpdateIDP', invalid, 'the name is missing', ({ idp: { idpId } }) => ({ idpId }), { fields: ['name'] }),
  fails('UpdateIDP', notFound('IDP_NOT_FOUND'), 'the provider is unknown', () => ({
    idpId: 'unknown',
    name: unique('Provider'),
  })),
  fails('UpdateIDP', exists('IDP_NAME_TAKEN'), 'another provider has the name', ({ idp, otherIdp }) => ({
    idpId: idp.idpId,
    name: otherIdp.name.toUpperCase(),
  })),
  fails('AddOIDCIDP', exists('IDP_NAME_TAKEN'), 'the name is taken', ({ idp }) => added(idp.name)),
  fails('GetIDP', notFound('IDP_NOT_FOUND'), 'the provider is unknown', () => ({ idpId: 'unknown' })),
  fails('GetIDP', denied, 'an organization owner calls', ({ idp: { idpId } }) => ({ idpId }), owner),
]
