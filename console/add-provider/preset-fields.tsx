import { Area } from '../form/area.tsx'
import { Choice, Field } from '../form/field.tsx'
import type { Form } from '../form/use-form.ts'
import type { Kind } from '../providers/kinds.ts'
import type { Wanted } from './presets.ts'
import { words as w } from './words.ts'

/** What a preset is asked for beside its name. */
export function PresetFields({ form }: { form: Form<Wanted> }) {
  const kind = form.values.kind as Kind
  switch (kind) {
    case 'microsoft':
      return <Microsoft form={form} />
    case 'github':
      return <Field form={form} name="host" label={w.host} hint={w.hostHint} />
    case 'gitlab':
      return <Field form={form} name="issuer" label={w.gitlab} hint={w.gitlabHint} />
    case 'apple':
      return (
        <>
          <Field form={form} name="clientId" label={w.servicesId} hint={w.servicesIdHint} />
          <div class="both">
            <Field form={form} name="appleKey.teamId" label={w.teamId} />
            <Field form={form} name="appleKey.keyId" label={w.keyId} />
          </div>
          <Area form={form} name="clientSecret" label={w.key} hint={w.keyHint} />
        </>
      )
    case 'oidc':
      return <Field form={form} name="issuer" label={w.issuer} hint={w.issuerHint} placeholder="https://" />
    case 'oauth':
      return (
        <>
          <Field form={form} name="authorizationEndpoint" label={w.authorization} placeholder="https://" />
          <Field form={form} name="tokenEndpoint" label={w.token} placeholder="https://" />
          <Field form={form} name="userEndpoint" label={w.user} hint={w.userHint} placeholder="https://" />
          <Field form={form} name="idAttribute" label={w.idAttribute} hint={w.idAttributeHint} />
        </>
      )
    case 'jwt':
      return (
        <>
          <Field form={form} name="jwtEndpoint" label={w.jwtEndpoint} hint={w.jwtEndpointHint} placeholder="https://" />
          <Field form={form} name="issuer" label={w.jwtIssuer} />
          <Field form={form} name="keysEndpoint" label={w.keys} hint={w.keysHint} placeholder="https://" />
          <Field form={form} name="headerName" label={w.header} placeholder="x-id-token" />
        </>
      )
    default:
      return null
  }
}

function Microsoft({ form }: { form: Form<Wanted> }) {
  const isAny = form.values.tenancy !== 'one'
  return (
    <>
      <Choice
        form={form}
        name="tenancy"
        label={w.tenancy}
        options={{ one: w.oneTenant, organizations: w.anyTenant, common: w.anybody }}
        {...(isAny && { hint: w.anybodyHint })}
      />
      {!isAny && <Field form={form} name="tenant" label={w.tenant} hint={w.tenantHint} />}
    </>
  )
}

export const labels: Record<keyof Wanted, string> = {
  kind: w.which,
  name: w.name,
  tenancy: w.tenancy,
  tenant: w.tenant,
  host: w.host,
  issuer: w.issuer,
  authorizationEndpoint: w.authorization,
  tokenEndpoint: w.token,
  userEndpoint: w.user,
  idAttribute: w.idAttribute,
  jwtEndpoint: w.jwtEndpoint,
  keysEndpoint: w.keys,
  headerName: w.header,
  clientId: w.servicesId,
  'appleKey.teamId': w.teamId,
  'appleKey.keyId': w.keyId,
  clientSecret: w.key,
  autoRegister: w.register,
}
