import type { IdpIDP } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.idp.v1.UpdateIDPOIDCConfigRequest.json'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { clientIdOf, idToCome } from '../providers/kinds.ts'
import { useMayThere, usePlace } from '../providers/place.ts'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

interface ClientFormProps {
  provider: IdpIDP
  /** As the provider calls them. */
  labels: { id: string; secret: string }
  title: string
}

/** The client id and the secret that the provider gives. */
export function ClientForm({ provider, labels, title }: ClientFormProps) {
  const { id: idpId = '', oidc, details } = provider
  const place = usePlace()
  const organization = useOrganization()
  const mayWrite = useMayThere('write')
  const clientId = clientIdOf(provider) ?? ''
  // A new record waits for both.
  const isNew = clientId === idToCome
  const form = useForm({
    opened: { clientId: isNew ? '' : clientId, clientSecret: '' },
    ...(!isNew && { sequence: details?.sequence ?? '' }),
    rules: rules as Rules,
    async send(changed, { key }) {
      const method = oidc ? place.updateOidc : place.updateOauth
      const sequence = details?.sequence
      const answer = await write(method, { idpId, ...changed }, { organization, sequence, key })
      say(words.saved)
      await readAgain()
      return answer.details?.sequence
    },
    skip: (name, values) => !isNew && name === 'clientSecret' && values.clientSecret === '',
  })
  return (
    <div class="card">
      <div class="title">
        <h2>{title}</h2>
      </div>
      <fieldset disabled={mayWrite !== true}>
        <FormView
          form={form}
          labels={{ clientId: labels.id, clientSecret: labels.secret }}
          {...(isNew && { action: common.save })}
        >
          <Field form={form} name="clientId" label={labels.id} />
          <Field
            form={form}
            name="clientSecret"
            label={labels.secret}
            type="password"
            autocomplete="new-password"
            hint={isNew ? words.secretText : words.unchanged}
          />
        </FormView>
      </fieldset>
    </div>
  )
}
