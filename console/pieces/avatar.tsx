/** The initials of a name, for the eye alone. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  const words = name.trim().split(/\s+/)
  const picked = words.length > 1 ? [words[0]!, words.at(-1)!] : words
  const initials = picked.map((word) => [...word][0] ?? '').join('')
  // Drawn by the style sheet, so that no label has to hold them.
  return <span class={large ? 'avatar large' : 'avatar'} aria-hidden="true" data-initials={initials.toUpperCase()} />
}
