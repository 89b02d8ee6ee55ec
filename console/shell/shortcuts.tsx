import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../pieces/dialog.tsx'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { lettersAct, onKey, setLetters } from './keys.ts'
import { views } from './views.ts'

const t = texts(
  {
    title: 'Keys',
    find: 'Find anything',
    help: 'This help',
    go: (view: string) => `Go to ${view}`,
    rows: 'Next and previous row',
    open: 'Open the row',
    select: 'Select the row',
    add: 'Add one',
    save: 'Save',
    close: 'Close',
    letters: 'Letters act as keys',
  },
  {
    title: 'Tasten',
    find: 'Alles durchsuchen',
    help: 'Diese Hilfe',
    go: (view) => `Zu ${view}`,
    rows: 'Nächste und vorige Zeile',
    open: 'Zeile öffnen',
    select: 'Zeile auswählen',
    add: 'Eines hinzufügen',
    save: 'Speichern',
    close: 'Schließen',
    letters: 'Buchstaben gelten als Tasten',
  },
)

/** Listens to the keys of the console, and shows them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  const [act, setAct] = useState(lettersAct)
  useEffect(() => {
    const show = () => setOpen(true)
    document.addEventListener('keydown', onKey)
    document.addEventListener('roster-help', show)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('roster-help', show)
    }
  }, [])
  if (!isOpen) return null
  const toViews = views.flatMap(({ menu }) => (menu ? [[`g ${menu.letter}`, t.go(menu.label)]] : []))
  const keys = [
    ['/', t.find],
    ['Ctrl K', t.find],
    ['?', t.help],
    ...toViews,
    ['j k', t.rows],
    ['Enter', t.open],
    ['x', t.select],
    ['n', t.add],
    ['Ctrl S', t.save],
    ['Esc', t.close],
  ]
  const change = (event: { currentTarget: HTMLInputElement }) => {
    setLetters(event.currentTarget.checked)
    setAct(event.currentTarget.checked)
  }
  return (
    <Dialog title={t.title} onClose={() => setOpen(false)}>
      <dl class="keys">
        {keys.map(([key, text]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <label class="box">
        <input type="checkbox" checked={act} onChange={change} /> {t.letters}
      </label>
      <div class="actions">
        <button onClick={() => setOpen(false)}>{common.close}</button>
      </div>
    </Dialog>
  )
}
