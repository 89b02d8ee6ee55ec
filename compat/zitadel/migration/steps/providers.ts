import { IDPState, type Provider } from '@zitadel/proto/zitadel/idp_pb'
import { faultsOf } from '../roster/faults-of.ts'
import type { Migration, OurOrganization } from '../ours.ts'
import { shown } from '../shown.ts'
import { Refusal, whyOf } from '../roster/target.ts'

/** Adds the identity providers of the instance. */
export async function moveInstanceProviders(migration: Migration): Promise<void> {
  await move(migration, '/admin/v1/idps', undefined, true, migration.source.instanceProviders())
}

/** Adds the identity providers of an organization. */
export async function moveOrganizationProviders(migration: Migration, { id, exists }: OurOrganization): Promise<void> {
  await move(migration, '/management/v1/idps', id, exists, migration.source.organizationProviders(id))
}

async function move(
  { target, report, dry }: Migration,
  path: string,
  organization: string | undefined,
  exists: boolean,
  pages: AsyncGenerator<Provider[]>,
): Promise<void> {
  for await (const page of pages)
    for (const provider of page) {
      const { id, name, state } = provider
      const request = toRequest(provider)
      const why = request
        ? faultsOf(request.type, request.fields)
        : 'ZITADEL does not return its secret. Add it by hand'
      if (why !== undefined) {
        report.refused('identity provider', `${id} ${name}`, why)
        continue
      }
      try {
        if (exists && (await isThere(name))) report.there('identity provider')
        else {
          if (!dry) await add(request!, state)
          report.moved('identity provider')
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        report.refused('identity provider', `${id} ${name}`, whyOf(error))
      }
    }

  async function isThere(name: string): Promise<boolean> {
    const query = { name, nameMethod: 'TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE', limit: 1 }
    const { idps = [] } = await target.ask('POST', `${path}/_search`, query, organization)
    return idps.length > 0
  }

  async function add({ kind, fields }: Request, state: IDPState): Promise<void> {
    const { idpId } = await target.ask('POST', `${path}/${kind}`, fields, organization)
    report.progress(`identity provider ${shown(fields.name)} has the new id ${idpId}`)
    if (state === IDPState.IDP_STATE_INACTIVE)
      await target.ask('POST', `${path}/${idpId}/_deactivate`, {}, organization)
  }
}

interface Request {
  kind: 'jwt' | 'saml'
  type: string
  fields: { name: string }
}

// A provider of any other kind has a secret.
function toRequest({ name, config }: Provider): Request | undefined {
  const shared = { name, autoRegister: config?.options?.isAutoCreation ?? false }
  if (config?.config.case === 'jwt') {
    const { jwtEndpoint, issuer, keysEndpoint, headerName } = config.config.value
    const fields = { ...shared, jwtEndpoint, issuer, keysEndpoint, headerName }
    return { kind: 'jwt', type: 'roster.idp.v1.AddJWTIDPRequest', fields }
  }
  if (config?.config.case !== 'saml') return undefined
  const { metadataXml, binding, withSignedRequest, nameIdFormat } = config.config.value
  const metadata = { metadataXml: Buffer.from(metadataXml).toString('base64') }
  const fields = { ...shared, ...metadata, binding, withSignedRequest, nameIdFormat }
  return { kind: 'saml', type: 'roster.idp.v1.AddSAMLIDPRequest', fields }
}
