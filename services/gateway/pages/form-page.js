const answerWithin = 20_000
const element = (id) => document.getElementById(id)

/**
 * Runs a page with one form: shows its texts in the reader's language, sends the form, and shows the outcome. `texts`
 * by language; `begin` runs at the start and for each new link; `request` gives path and body, or a text key of what
 * is wrong; `refused` is for an answer of 400.
 */
export function runFormPage({ texts, begin = () => {}, request, refused = () => ({ wrong: 'failed' }) }) {
  const language =
    navigator.languages.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => Object.hasOwn(texts, tag)) ?? 'en'
  const text = texts[language]
  const [title, status, form] = [element('title'), element('status'), element('form')]
  const button = form.querySelector('button:not([type=button])')
  let busy = false

  document.documentElement.lang = language
  element('scriptless').remove()
  form.addEventListener('submit', submit)
  // A second link in the same tab changes nothing but the fragment, so the page does not load again.
  addEventListener('hashchange', start)
  start()

  function start() {
    const given = new URLSearchParams(location.hash.slice(1))
    // The code must stay neither in the address bar nor in the history.
    history.replaceState(null, '', location.pathname + location.search)
    for (const shown of document.querySelectorAll('[data-text]')) shown.textContent = text[shown.dataset.text]
    begin(given, text)
    form.hidden = false
    say('')
  }

  async function submit(event) {
    event.preventDefault()
    if (busy) return
    const wanted = request()
    if (wanted.wrong) {
      blame(wanted.wrong, wanted.field)
      return
    }
    setBusy(true)
    say(text.working)
    try {
      const answer = await fetch(wanted.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(wanted.body),
        credentials: 'omit',
        signal: AbortSignal.timeout(answerWithin),
      })
      await show(answer)
    } catch {
      say(text.offline, 'bad')
    }
    setBusy(false)
  }

  async function show(answer) {
    if (answer.ok) {
      form.reset()
      form.hidden = true
      title.textContent = document.title = text.done
      say(text.doneHint, 'good')
      title.focus()
    } else if (answer.status === 400) {
      const { wrong, field } = refused(await answer.json())
      blame(wrong, field)
    } else if (answer.status === 429) {
      say(text.often.replace('{wait}', duration(Number(answer.headers.get('retry-after')) || 60)), 'bad')
    } else say(text.failed, 'bad')
  }

  function blame(wrong, field) {
    say(text[wrong], 'bad')
    if (!field) return
    element(field).setAttribute('aria-invalid', 'true')
    element(field).focus()
  }

  function say(message, kind = '') {
    status.className = kind
    status.textContent = message
    for (const input of form.querySelectorAll('input')) input.removeAttribute('aria-invalid')
  }

  // `disabled` would take the focus away.
  function setBusy(now) {
    busy = now
    button.setAttribute('aria-disabled', String(now))
  }

  function duration(seconds) {
    const [count, unit] = seconds < 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
    return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
  }
}
