"""The quizzes, one file for each lab; `inference_kit.labs.quiz` reads them."""
