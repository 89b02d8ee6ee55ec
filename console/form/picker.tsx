import * as combobox from '@zag-js/combobox'
import { normalizeProps, useMachine } from '@zag-js/preact'
import { useId, useMemo, useState } from 'preact/hooks'
import { useSoon } from '../list/use-soon.ts'
import { common } from '../texts/common.ts'

export interface Option {
  id: string
  label: string
  /** What tells it from another one of the same name. */
  note?: string
}

interface PickerProps {
  label: string
  /** What the server finds for a text. It is called while the picker shows, so it may be a hook. */
  useOptions: (text: string) => { options: Option[] | undefined; isFetching: boolean }
  onPick: (option: Option) => void
  placeholder?: string
  autofocus?: boolean
}

/** Finds an object by typing. The server searches, once typing pauses. */
export default function Picker({ label, useOptions, onPick, placeholder, autofocus = false }: PickerProps) {
  const [text, setText] = useState('')
  const { options = [], isFetching } = useOptions(useSoon(text))
  const collection = useMemo(
    () => combobox.collection({ items: options, itemToValue: ({ id }) => id, itemToString: ({ label }) => label }),
    [options],
  )
  const service = useMachine(combobox.machine, {
    id: useId(),
    collection,
    autoFocus: autofocus,
    openOnClick: true,
    inputBehavior: 'autohighlight',
    selectionBehavior: 'clear',
    onInputValueChange: ({ inputValue }) => setText(inputValue),
    onValueChange: ({ items }) => {
      const [picked] = items as Option[]
      if (picked) onPick(picked)
    },
  })
  const api = combobox.connect(service, normalizeProps)
  return (
    <div {...api.getRootProps()} class="picker">
      <label {...api.getLabelProps()}>{label}</label>
      <div {...api.getControlProps()}>
        <input {...api.getInputProps()} maxLength={200} placeholder={placeholder} />
      </div>
      <div {...api.getPositionerProps()} class="options">
        <ul {...api.getContentProps()} aria-busy={isFetching}>
          {options.map((option) => (
            <li key={option.id} {...api.getItemProps({ item: option })}>
              {option.label} {option.note && <small>{option.note}</small>}
            </li>
          ))}
          {options.length === 0 && <li class="quiet">{isFetching ? common.loading : common.nothingMatches}</li>}
        </ul>
      </div>
    </div>
  )
}
