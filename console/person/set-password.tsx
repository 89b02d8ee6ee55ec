import type { UsersUser } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.users.v1.SetPasswordRequest.json'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { nameOf } from '../people/about-person.tsx'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { words } from './words.ts'

/** Sets a password for a person, who chooses another one at the next sign-in unless the box is cleared. */
export function SetPassword({ user, onClose }: { user: UsersUser; onClose: () => void }) {
  const organization = useOrganization()
  const { userId = '' } = user
  const labels = { 'newPassword.password': words.newPassword, 'newPassword.changeRequired': words.mustChoose }
  const form = useForm({
    opened: { 'newPassword.password': '', 'newPassword.changeRequired': 'true' },
    rules: rules as Rules,
    async send(values, { key }) {
      const newPassword = {
        password: values['newPassword.password'] ?? '',
        changeRequired: values['newPassword.changeRequired'] === 'true',
      }
      const method = 'roster.users.v1.PasswordService/SetPassword'
      const { details } = await write(method, { userId, newPassword }, { organization, key })
      say(words.passwordSet(nameOf(user)))
      void readAgain()
      onClose()
      return details?.sequence
    },
  })
  return (
    <Dialog title={words.setPasswordTitle(nameOf(user))} onClose={onClose}>
      <FormView form={form} labels={labels} action={words.setPassword} onCancel={onClose}>
        <Field
          form={form}
          name="newPassword.password"
          type="password"
          autocomplete="new-password"
          label={words.newPassword}
          hint={words.setPasswordHint}
        />
        <Check form={form} name="newPassword.changeRequired" label={words.mustChoose} hint={words.mustChooseHint} />
      </FormView>
    </Dialog>
  )
}
