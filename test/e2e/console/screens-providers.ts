import { generateKeyPairSync } from 'node:crypto'
import { examples } from '../../examples/idps.ts'
import { unique } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'

type Act = (...asked: Parameters<typeof call>) => Promise<any>

interface Around {
  /** Who come by the first one. */
  people: { userId: string; email: string }[]
  projectId: string
}

const long = 'Wissenschaftliche Gesellschaft für Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbau'

/** Providers of every kind and in every state: the first one, with people and roles, and the others by what they are. */
export async function makeProviders(act: Act, { people, projectId }: Around) {
  const client = { clientId: 'roster', clientSecret: unique('secret') }
  const oidc = async (name: string, rest: object = {}): Promise<string> =>
    (await act('AddOrganizationOIDCIDP', { ...client, name, issuer: 'https://login.acme.example', ...rest })).idpId
  const first = await oidc('Microsoft', {
    preset: 'IDP_PRESET_MICROSOFT',
    issuer: 'https://login.microsoftonline.com/8eaef023-2b34-4da1-9baa-8bc8c9d6a490/v2.0',
    autoRegister: true,
  })
  const rows = [
    { claim: 'groups', value: 'billing-admins', projectId, roleKeys: ['admin', 'approver', 'reader'] },
    { claim: '/realm_access/roles', value: '4f6f3c1e-0d0b-4a7e-9a53-7e0c5d1d9f10', projectId, roleKeys: ['reader'] },
  ]
  await act('SetOrganizationIDPRoles', { idpId: first, rows })
  for (const { userId, email } of people)
    await act('AddIDPLink', { userId, idpLink: { idpId: first, userId: unique('sub'), userName: email } })
  const providers = {
    incomplete: await oidc(long, { clientId: 'not-set-yet', clientSecret: 'not-set-yet' }),
    apple: await oidc('Apple', {
      preset: 'IDP_PRESET_APPLE',
      issuer: 'https://appleid.apple.com',
      clientId: 'com.acme.sign-in',
      clientSecret: newKey(),
      appleKey: { teamId: 'TEAM', keyId: 'KEY' },
    }),
    github: await addGitHub(act, client),
    foreign: (await act('AddOrganizationJWTIDP', { ...examples.jwt.settings, name: 'شركة أكمي للشحن' }))
      .idpId as string,
    saml: (await act('AddOrganizationSAMLIDP', { name: 'SAML', metadataUrl: 'https://saml.acme.example/metadata' }))
      .idpId,
    former: await oidc('Acme (former)'),
  }
  await act('DeactivateOrganizationIDP', { idpId: providers.former })
  const partners = await Promise.all(Array.from({ length: 16 }, (_, at) => oidc(`Partner ${at + 1}`)))
  const idpIds = [first, providers.former, providers.foreign, ...partners]
  await act('UpdateLoginPolicy', { settings: { identityProviders: { idpIds } } })
  return { provider: first, providers }
}

async function addGitHub(act: Act, client: object): Promise<string> {
  const { idpId } = await act('AddOrganizationOAuthIDP', {
    ...client,
    name: 'GitHub',
    preset: 'IDP_PRESET_GITHUB',
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    userEndpoint: 'https://api.github.com/user',
    idAttribute: 'id',
  })
  return idpId
}

function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string
}
