import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import type { Values } from './merge.ts'
import type { Form } from './use-form.ts'

const t = texts({ optional: 'optional' }, { optional: 'freiwillig' })

interface FieldProps<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: string
  hint?: string
  optional?: boolean
  type?: 'text' | 'email' | 'password'
  autocomplete?: string
  placeholder?: string
}

/** A text, with its label, its hint, and what is wrong with it. */
export function Field<V extends Values>({
  form,
  name,
  type = 'text',
  autocomplete = 'off',
  placeholder,
  ...about
}: FieldProps<V>) {
  return (
    <Labelled form={form} name={name} {...about}>
      {(attributes) => (
        <input
          {...attributes}
          type={type}
          autocomplete={autocomplete}
          spellcheck={false}
          placeholder={placeholder}
          value={form.values[name]}
          onInput={(event) => form.set(name, event.currentTarget.value)}
        />
      )}
    </Labelled>
  )
}

/** One of a few values. */
export function Choice<V extends Values>({
  form,
  name,
  options,
  ...about
}: FieldProps<V> & { options: Record<string, string> }) {
  return (
    <Labelled form={form} name={name} {...about}>
      {(attributes) => (
        <select
          {...attributes}
          value={form.values[name]}
          onChange={(event) => form.set(name, event.currentTarget.value)}
        >
          {Object.entries(options).map(([value, text]) => (
            <option value={value}>{text}</option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

interface LabelledProps<V extends Values> extends Pick<FieldProps<V>, 'form' | 'name' | 'label' | 'hint' | 'optional'> {
  children: (attributes: Attributes) => ComponentChildren
}

interface Attributes {
  id: string
  name: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

function Labelled<V extends Values>({ form, name, label, hint, optional, children }: LabelledProps<V>) {
  const id = useId()
  const fault = form.faults[name]
  const isAdopted = form.adopted.includes(name)
  const notes = [fault && `${id}-fault`, isAdopted && `${id}-adopted`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <small> ({t.optional})</small>}
      </label>
      {children({ id, name, 'aria-invalid': fault !== undefined, 'aria-describedby': notes || undefined })}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {label} {fault}.
        </span>
      )}
      {isAdopted && (
        <small class="adopted" id={`${id}-adopted`}>
          {common.adopted}
        </small>
      )}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  )
}
