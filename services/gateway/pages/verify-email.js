import { runFormPage } from './form-page.js'

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

const [user, userId, code] = ['user', 'user-id', 'code'].map((id) => document.getElementById(id))

runFormPage({
  texts,
  begin(given) {
    userId.value = given.get('userId') ?? ''
    code.value = given.get('code') ?? ''
    user.hidden = userId.value !== ''
  },
  request: () => ({
    path: `/v2/users/${encodeURIComponent(userId.value.trim())}/email/verify`,
    body: { verificationCode: code.value.trim() },
  }),
  refused: () => ({ wrong: 'wrong', field: 'code' }),
})
