import { useEffect, useId, useRef, useState } from 'preact/hooks'
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
  /** Beside filters, which have their labels inside. */
  inside?: boolean
}

/**
 * Finds an object by typing. The server searches, once typing pauses. It is a combobox with a list, as the ARIA Authoring
 * Practices describe it: the focus stays in the input, which names the option that Enter picks.
 */
export default function Picker({
  label,
  useOptions,
  onPick,
  placeholder,
  autofocus = false,
  inside = false,
}: PickerProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  // Enter was pressed before the answer to what was typed had come.
  const [isWanted, setWanted] = useState(false)
  const soon = useSoon(text)
  const { options = [], isFetching } = useOptions(soon)
  const isOld = soon !== text || isFetching
  const active = Math.min(at, options.length - 1)
  useEffect(() => {
    if (autofocus) input.current?.focus()
  }, [])
  useEffect(() => {
    if (!isWanted || isOld) return
    setWanted(false)
    if (options[0]) pick(options[0])
  }, [isWanted, isOld])
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active])

  function onKeyDown(event: KeyboardEvent) {
    const { key } = event
    const moved = { ArrowDown: isOpen ? active + 1 : active, ArrowUp: active - 1 }[key]
    if (moved !== undefined) {
      setOpen(true)
      setAt((moved + options.length) % Math.max(options.length, 1))
    } else if (key === 'Enter' && isOpen && isOld) setWanted(true)
    else if (key === 'Enter' && isOpen && options[active]) pick(options[active])
    // The next Esc is the dialog's.
    else if (key === 'Escape' && isOpen) setOpen(false)
    else return
    event.preventDefault()
  }

  function pick(option: Option) {
    setOpen(false)
    setText('')
    onPick(option)
  }

  const optionId = (index: number) => `${id}-${index}`
  return (
    <div class="picker" onFocusOut={() => setOpen(false)}>
      <label for={id} class={inside ? 'unseen' : undefined}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && options[active] ? optionId(active) : undefined}
        maxLength={200}
        placeholder={placeholder}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
          setWanted(false)
          setOpen(true)
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKeyDown}
      />
      {/* The mouse takes no focus away from the input. */}
      <div class="options" hidden={!isOpen} onMouseDown={(event) => event.preventDefault()}>
        <ul ref={list} id={`${id}-list`} role="listbox" aria-label={label} aria-busy={isFetching}>
          {options.map((option, index) => (
            <li
              key={option.id}
              id={optionId(index)}
              role="option"
              aria-selected={index === active}
              onClick={() => pick(option)}
            >
              {option.label} {option.note && <small>{option.note}</small>}
            </li>
          ))}
        </ul>
        <p role="status">{options.length > 0 ? '' : isFetching ? common.loading : common.nothingMatches}</p>
      </div>
    </div>
  )
}
