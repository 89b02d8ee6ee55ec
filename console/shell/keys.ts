const off = 'roster-console-letters-off'

/** Whether single letters act. Who speaks to the browser switches them off (WCAG 2.1.4). */
export function lettersAct(): boolean {
  return localStorage.getItem(off) === null
}

export function setLetters(act: boolean): void {
  if (act) localStorage.removeItem(off)
  else localStorage.setItem(off, '1')
}

let waitsForView = 0

/** Does what a key means. Letters never act in fields and dialogs. */
export function onKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey } = event
  const withCommand = ctrlKey || metaKey
  if (withCommand && key === 's') return act(event, () => saveForm())
  if (withCommand && key === 'k') return act(event, () => press('/'))
  if (withCommand || altKey || isTyping(event) || document.querySelector('dialog[open]')) return
  if (!lettersAct()) return
  if (Date.now() - waitsForView < 1500 && /^[a-z]$/.test(key)) {
    waitsForView = 0
    return act(event, () => document.querySelector<HTMLElement>(`nav [data-letter="${key}"]`)?.click())
  }
  if (key === 'g') waitsForView = Date.now()
  else if (key === '/' || key === '?' || key === 'n') act(event, () => press(key))
  else if (key === 'j') act(event, () => moveRow(1))
  else if (key === 'k') act(event, () => moveRow(-1))
  else if (key === 'x') act(event, () => currentRow()?.querySelector<HTMLElement>('input[type=checkbox]')?.click())
}

function act(event: KeyboardEvent, done: () => void) {
  event.preventDefault()
  done()
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
}

/** Presses the button that has this key. */
function press(key: string) {
  document.querySelector<HTMLElement>(`[data-key="${key}"]`)?.click()
}

function saveForm() {
  const form = document.activeElement?.closest<HTMLFormElement>('form[data-save]')
  const found = form ?? document.querySelector<HTMLFormElement>('form[data-save]')
  found?.requestSubmit()
}

function moveRow(step: 1 | -1) {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step
  rows[next]?.focus()
}

function currentRow(): HTMLElement | null {
  return document.activeElement?.closest('tr') ?? null
}
