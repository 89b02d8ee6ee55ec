import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'

const t = texts(
  { type: (name: string) => `Type “${name}” to go on.` },
  { type: (name) => `Geben Sie „${name}“ ein, um fortzufahren.` },
)

interface ConfirmProps {
  title: string
  /** What will happen. */
  children: ComponentChildren
  /** The words of the button. */
  action: string
  /** What has to be typed: only for what cannot be undone. */
  name?: string
  act: () => Promise<void>
  onClose: () => void
}

/** Asks before a danger. A refusal stays in the dialog, with its reason. */
export function Confirm({ title, children, action, name, act, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const isMeant = name === undefined || typed.trim() === name.trim()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isMeant || isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await act()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <div>{children}</div>
        {name !== undefined && (
          <label>
            {t.type(name)}
            <input
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={(e) => setTyped(e.currentTarget.value)}
            />
          </label>
        )}
        {error && <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="danger" disabled={!isMeant || isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
