const texts = {
  en: {
    title: 'Verify your email address',
    intro: 'Check the code and press the button. That tells us that the mail reached you.',
    userId: 'User ID',
    userHint:
      'Your link is not complete: it should contain a user ID. Open the link of the mail again, or enter the ID here.',
    code: 'Code from the mail',
    verify: 'Verify my email address',
    working: 'One moment …',
    done: 'Your email address is verified',
    doneHint: 'You can close this page.',
    wrong:
      'This code does not work: it is mistyped, expired, already used, or replaced by a newer one. Use the code of the newest mail, or ask for a new one where you gave your address. Was it you who used it? Then your address is verified.',
    often: 'Too many tries. Please wait {wait} and try again.',
    failed: 'That did not work, and it is not your fault. Your code is still good: please try again in a moment.',
    offline: 'The service could not be reached. Check your connection and try again; your code is still good.',
  },
  de: {
    title: 'E-Mail-Adresse bestätigen',
    intro: 'Prüfen Sie den Code und drücken Sie den Knopf. Damit wissen wir, dass die Mail Sie erreicht hat.',
    userId: 'Benutzer-ID',
    userHint:
      'Ihr Link ist nicht vollständig: Er sollte eine Benutzer-ID enthalten. Öffnen Sie den Link der Mail noch einmal, oder geben Sie die ID hier ein.',
    code: 'Code aus der Mail',
    verify: 'E-Mail-Adresse bestätigen',
    working: 'Einen Moment …',
    done: 'Ihre E-Mail-Adresse ist bestätigt',
    doneHint: 'Sie können diese Seite schließen.',
    wrong:
      'Dieser Code gilt nicht: Er ist vertippt, abgelaufen, schon benutzt oder durch einen neueren ersetzt. Nehmen Sie den Code der neuesten Mail, oder fordern Sie dort einen neuen an, wo Sie Ihre Adresse angegeben haben. Haben Sie selbst ihn benutzt? Dann ist Ihre Adresse bestätigt.',
    often: 'Zu viele Versuche. Bitte warten Sie {wait} und versuchen Sie es noch einmal.',
    failed:
      'Das ging schief, und es liegt nicht an Ihnen. Ihr Code gilt noch: Bitte versuchen Sie es gleich noch einmal.',
    offline:
      'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal; Ihr Code gilt noch.',
  },
}

const answerWithin = 20_000
const element = (id) => document.getElementById(id)
const [title, user, userId, code, status] = ['title', 'user', 'user-id', 'code', 'status'].map(element)
const form = document.querySelector('form')
const button = document.querySelector('button')
const language =
  navigator.languages.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => Object.hasOwn(texts, tag)) ?? 'en'
const text = texts[language]
let busy = false

document.documentElement.lang = language
element('scriptless').remove()
form.addEventListener('submit', verify)
// A second link in the same tab changes nothing but the fragment, so the page does not load again.
addEventListener('hashchange', begin)
begin()

function begin() {
  const given = new URLSearchParams(location.hash.slice(1))
  // The code must stay neither in the address bar nor in the history.
  history.replaceState(null, '', location.pathname + location.search)
  for (const shown of document.querySelectorAll('[data-text]')) shown.textContent = text[shown.dataset.text]
  userId.value = given.get('userId') ?? ''
  code.value = given.get('code') ?? ''
  user.hidden = userId.value !== ''
  form.hidden = false
  say('')
}

async function verify(event) {
  event.preventDefault()
  if (busy) return
  setBusy(true)
  say(text.working)
  try {
    const answer = await fetch(`/v2/users/${encodeURIComponent(userId.value.trim())}/email/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verificationCode: code.value.trim() }),
      credentials: 'omit',
      signal: AbortSignal.timeout(answerWithin),
    })
    show(answer)
  } catch {
    say(text.offline, 'bad')
  }
  setBusy(false)
}

function show(answer) {
  if (answer.ok) {
    form.hidden = true
    title.textContent = document.title = text.done
    say(text.doneHint, 'good')
    title.focus()
  } else if (answer.status === 400) {
    say(text.wrong, 'bad')
    code.setAttribute('aria-invalid', 'true')
    code.focus()
  } else if (answer.status === 429) {
    say(text.often.replace('{wait}', duration(Number(answer.headers.get('retry-after')) || 60)), 'bad')
  } else say(text.failed, 'bad')
}

function say(message, kind = '') {
  status.className = kind
  status.textContent = message
  code.removeAttribute('aria-invalid')
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
