import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

const t = texts(
  {
    once: 'It is shown this once. Roster keeps no copy that anybody could read.',
    done: 'I have it',
    save: 'Save as a file',
  },
  {
    once: 'Es wird nur dieses Mal gezeigt. Roster behält nichts, was jemand lesen könnte.',
    done: 'Ich habe es',
    save: 'Als Datei speichern',
  },
)

interface ShownOnceProps {
  title: string
  /** Each with its label, to copy one by one. */
  secrets: { label: string; text: string }[]
  /** The name of a file that the first one is saved as. */
  file?: string
  onClose: () => void
}

/** Shows a secret that nobody can read again. Only a decision closes it. */
export function ShownOnce({ title, secrets, file, onClose }: ShownOnceProps) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([secrets[0]!.text], { type: 'application/octet-stream' }))
    const link = document.createElement('a')
    link.href = url
    link.download = file!
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <Dialog firm title={title} onClose={onClose}>
      <p>{t.once}</p>
      {secrets.map(({ label, text }) => (
        <div key={label} class="once">
          <span class="label">{label}</span>
          <pre tabIndex={0}>{text}</pre>
          <CopyButton text={text} label={`${common.copy}: ${label}`} />
        </div>
      ))}
      <div class="actions">
        {file && <button onClick={save}>{t.save}</button>}
        <button class="primary" onClick={onClose}>
          {t.done}
        </button>
      </div>
    </Dialog>
  )
}
