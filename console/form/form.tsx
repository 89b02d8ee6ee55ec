import type { ComponentChildren } from 'preact'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { ConflictTable } from './conflict.tsx'
import type { Values } from './merge.ts'
import type { Form } from './use-form.ts'

const t = texts(
  { changes: (count: number) => (count === 1 ? '1 change' : `${count} changes`) },
  { changes: (count) => (count === 1 ? '1 Änderung' : `${count} Änderungen`) },
)

interface FormViewProps<V extends Values> {
  form: Form<V>
  children: ComponentChildren
  /** The words of the button; of a new object other ones than "Save". */
  action?: string
  /** How each field is called. */
  labels: Record<keyof V & string, string>
  onCancel?: () => void
}

/** The fields, what stands in the way, and the bar that saves. */
export function FormView<V extends Values>({ form, children, action, labels, onCancel }: FormViewProps<V>) {
  const isNew = action !== undefined
  const submit = (event: Event) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form noValidate onSubmit={submit} data-save>
      <div class="fields">{children}</div>
      {form.conflict && <ConflictTable {...form.conflict} labels={labels} choose={form.choose} />}
      {form.error && <Problem error={form.error} />}
      <div class="save">
        <small role="status">{!isNew && form.changes > 0 && t.changes(form.changes)}</small>
        <span class="grow" />
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {common.cancel}
          </button>
        )}
        {!isNew && (
          <button type="button" disabled={form.changes === 0} onClick={form.discard}>
            {common.discard}
          </button>
        )}
        <button class="primary" disabled={form.isBusy || form.conflict !== undefined || (!isNew && form.changes === 0)}>
          {action ?? common.save}
        </button>
      </div>
    </form>
  )
}
