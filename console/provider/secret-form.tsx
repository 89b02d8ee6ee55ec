import type { IdpIDP } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.idp.v1.UpdateIDPOIDCConfigRequest.json'
import { words as wizard } from '../add-provider/words.ts'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Area } from '../form/area.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { kindOf } from '../providers/kinds.ts'
import { usePlace } from '../providers/place.ts'
import { words } from './words.ts'

/** Replaces the secret of a provider: of Apple, its private key. */
export function SecretForm({ provider, onClose }: { provider: IdpIDP; onClose: () => void }) {
  const place = usePlace()
  const organization = useOrganization()
  const { id: idpId = '', oidc } = provider
  const isKey = kindOf(provider) === 'apple'
  const label = isKey ? wizard.key : words.newSecret
  const form = useForm({
    opened: { clientSecret: '' },
    rules: rules as Rules,
    async send({ clientSecret = '' }, { key }) {
      await write(oidc ? place.updateOidc : place.updateOauth, { idpId, clientSecret }, { organization, key })
      say(words.secretReplaced)
      void readAgain()
      onClose()
      return undefined
    },
  })
  return (
    <Dialog title={words.replaceSecret} onClose={onClose}>
      <FormView form={form} labels={{ clientSecret: label }} action={words.replaceSecret} onCancel={onClose}>
        {isKey ? (
          <Area form={form} name="clientSecret" label={label} hint={wizard.keyHint} />
        ) : (
          <Field
            form={form}
            name="clientSecret"
            label={label}
            type="password"
            autocomplete="new-password"
            hint={words.secretText}
          />
        )}
      </FormView>
    </Dialog>
  )
}
