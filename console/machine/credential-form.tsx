import { useState } from 'preact/hooks'
import { readAgain } from '../api/queries.ts'
import { Area } from '../form/area.tsx'
import { Choice } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { useForm } from '../form/use-form.ts'
import { words } from '../machines/words.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { ShownOnce } from '../pieces/shown-once.tsx'

/** What was made, to be shown once. Nothing where the caller brought a key. */
export interface Made {
  secrets: { label: string; text: string }[]
  file?: string
}

interface CredentialFormProps {
  title: string
  /** Whether a public key may be brought. */
  withKey?: boolean
  make: (asked: { expirationDate?: string; publicKey?: string }, key: string) => Promise<Made>
  onClose: () => void
}

const days = { '90': words.ends90, '30': words.ends30, '365': words.ends365, '': words.endsNever }

/** Asks when a credential ends, makes it, and shows it once. */
export function CredentialForm({ title, withKey = false, make, onClose }: CredentialFormProps) {
  const [made, setMade] = useState<Made>()
  const form = useForm({
    opened: { expirationDate: '90', publicKey: '' },
    rules: {},
    async send({ expirationDate = '', publicKey = '' }, { key }) {
      const end = expirationDate && new Date(Date.now() + Number(expirationDate) * 86_400_000).toISOString()
      const found = await make({ ...(end && { expirationDate: end }), ...(publicKey && { publicKey }) }, key)
      void readAgain()
      if (found.secrets.length > 0) setMade(found)
      else {
        say(words.keyAdded)
        onClose()
      }
      return undefined
    },
  })
  if (made) return <ShownOnce title={title} {...made} onClose={onClose} />
  return (
    <Dialog title={title} onClose={onClose}>
      <FormView
        form={form}
        labels={{ expirationDate: words.ends, publicKey: words.ownKey }}
        action={title}
        onCancel={onClose}
      >
        <Choice form={form} name="expirationDate" label={words.ends} options={days} />
        {withKey && <Area form={form} name="publicKey" label={words.ownKey} hint={words.ownKeyHint} />}
      </FormView>
    </Dialog>
  )
}
